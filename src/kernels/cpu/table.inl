// The tables of an instruction-set unit: its own arithmetic, and the specification (`--exact`).

template <bool kExact>
const Ops& table(const char* name) {
  static const Ops ops = {
      .name = name,
      .decodes = Dot<Bf16, kExact>::kDecoding == Decoding::kForMany,
      .has_tiles = !kExact && kTileGroup > 1,
      .n_group_rows = kExact ? 1 : kTileGroup,
      .embed = embed,
      .linear = linear<kExact>,
      .linear_group = linear_group<kExact>,
      .head_linear = head_linear<kExact>,
      .norm = norm,
      .rope = rope,
      .store_kv = store_kv,
      .attention = attention,
      .route = route,
      .gate = gate,
      .experts = experts<kExact>,
      .combine = combine,
      .add = add,
      .clamp = clamp,
      .copy_heads = copy_heads,
  };
  return ops;
}
