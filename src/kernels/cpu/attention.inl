// Keys and values in pages, and attention over them: one row and one head at a time, positions
// ascending, so that a row's result does not depend on how the prompt was cut into steps.

FT_INLINE uint8_t* kv_at(const KvLayer& kv, const int32_t* pages, int64_t position, int64_t head,
                         bool is_value) {
  const int64_t element = kv.is_f32 ? 4 : 2;
  uint8_t* page = kv.pages + pages[position / kPageTokens] * kv.page_bytes;
  const bool is_apart = is_value && !kv.values_in_keys;
  const int64_t d = is_apart ? kv.d_v : kv.d_k;
  if (is_apart) page += kv.n_kv_heads * kPageTokens * kv.d_k * element;
  return page + (head * kPageTokens + position % kPageTokens) * d * element;
}

FT_INLINE void store_row(uint8_t* to, const float* from, int64_t n, bool is_f32) {
  if (is_f32) {
    __builtin_memcpy(to, from, static_cast<size_t>(n) * sizeof(float));
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    const uint16_t bits = f32_to_bf16(from[i]);
    __builtin_memcpy(to + 2 * i, &bits, 2);
  }
}

FT_INLINE void load_row(float* to, const uint8_t* from, int64_t n, bool is_f32) {
  if (is_f32) {
    __builtin_memcpy(to, from, static_cast<size_t>(n) * sizeof(float));
    return;
  }
  for (int64_t i = 0; i < n; ++i) to[i] = bf16_to_f32(load<uint16_t>(from + 2 * i));
}

void store_kv(Lane& lane, const StoreKvArgs& args) {
  const KvLayer& kv = args.kv;
  lane.team->run(args.rows.n_rows, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t r = begin; r < end; ++r) {
      const int32_t* pages = args.rows.page_tables[r];
      const int64_t position = args.rows.positions[r];
      for (int64_t h = 0; h < kv.n_kv_heads; ++h) {
        store_row(kv_at(kv, pages, position, h, false), args.k.row(r) + h * kv.d_k, kv.d_k,
                  kv.is_f32);
        if (kv.values_in_keys) continue;
        store_row(kv_at(kv, pages, position, h, true), args.v.row(r) + h * kv.d_v, kv.d_v,
                  kv.is_f32);
      }
    }
  });
}

/// One row, one head. scores: scratch of n_positions_max; entry: scratch of one key or value.
FT_INLINE void attend(const AttentionArgs& args, int64_t r, int64_t h, float* scores,
                      float* entry) {
  const KvLayer& kv = args.kv;
  const int64_t kv_head = h / (args.n_heads / kv.n_kv_heads);
  const int32_t* pages = args.rows.page_tables[r];
  const int64_t last = args.rows.positions[r];
  const int64_t first = args.window > 0 && last + 1 > args.window ? last + 1 - args.window : 0;
  const int64_t n = last + 1 - first;
  const float* q = args.q.row(r) + h * kv.d_k;
  float largest = args.sinks == nullptr ? -3.0e38f : args.sinks[h];
  for (int64_t t = 0; t < n; ++t) {
    load_row(entry, kv_at(kv, pages, first + t, kv_head, false), kv.d_k, kv.is_f32);
    scores[t] = args.scale * dot32(q, entry, kv.d_k);
    largest = scores[t] > largest ? scores[t] : largest;
  }
  float partial[kPartials] = {};
  for (int64_t t = 0; t < n; ++t) {
    scores[t] = exp32(scores[t] - largest);
    partial[t % kPartials] += scores[t];
  }
  float sum = fold32(partial);
  if (args.sinks != nullptr) sum += exp32(args.sinks[h] - largest);
  float* out = args.out.row(r) + h * kv.d_v;
  for (int64_t c = 0; c < kv.d_v; ++c) out[c] = 0;
  for (int64_t t = 0; t < n; ++t) {
    load_row(entry, kv_at(kv, pages, first + t, kv_head, true), kv.d_v, kv.is_f32);
    for (int64_t c = 0; c < kv.d_v; ++c) out[c] = fma32(scores[t], entry[c], out[c]);
  }
  const float inverse = 1.0f / sum;
  for (int64_t c = 0; c < kv.d_v; ++c) out[c] *= inverse;
}

void attention(Lane& lane, const AttentionArgs& args) {
  const Arena::Scope scope(*lane.arena);
  const int64_t stride = args.rows.n_positions_max + args.kv.d_k + args.kv.d_v;
  float* scratch = lane.arena->alloc<float>(stride * lane.team->n_threads());
  lane.team->run(args.rows.n_rows * args.n_heads, 1, [&](int64_t begin, int64_t end, int member) {
    float* scores = scratch + member * stride;
    for (int64_t i = begin; i < end; ++i) {
      attend(args, i / args.n_heads, i % args.n_heads, scores, scores + args.rows.n_positions_max);
    }
  });
}
