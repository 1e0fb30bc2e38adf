// Keys and values of a step's rows into their pages.

FT_INLINE uint8_t* page_of(const KvLayer& kv, const int32_t* pages, int64_t position) {
  return kv.pages + pages[position / kPageTokens] * kv.page_bytes;
}

FT_INLINE uint8_t* keys_of(const KvLayer& kv, uint8_t* page, int64_t head) {
  return page + head * (key_bytes(kv) + value_bytes(kv));
}

FT_INLINE uint8_t* values_of(const KvLayer& kv, uint8_t* page, int64_t head) {
  return keys_of(kv, page, head) + key_bytes(kv);
}

struct StoredRow {
  uint8_t* to = nullptr;
  uint8_t* scale = nullptr;  // of fp8
  const float* from = nullptr;
  int64_t n = 0;
};

/// Value i of the row goes to byte `place(i)`. Conversion and scattering are apart, so that the
/// former becomes vector code.
template <typename P, typename Place>
FT_INLINE void scatter_row(const StoredRow& row, Place place) {
  constexpr int64_t kChunk = 64;
  float factor = 1;
  if constexpr (std::is_same_v<P, Fp8Panel>) {
    const float scale = fp8_scale(row.from, row.n);
    __builtin_memcpy(row.scale, &scale, sizeof(scale));
    factor = scale == 0 ? 0 : 1 / scale;
  }
  typename P::Code codes[kChunk];
  for (int64_t first = 0; first < row.n; first += kChunk) {
    const int64_t count = smaller(kChunk, row.n - first);
    for (int64_t i = 0; i < count; ++i) codes[i] = P::code(row.from[first + i] * factor);
    for (int64_t i = 0; i < count; ++i) {
      __builtin_memcpy(row.to + place(first + i), codes + i, sizeof(codes[0]));
    }
  }
}

template <typename P>
void store_row(const StoreKvArgs& args, int64_t r) {
  const KvLayer& kv = args.kv;
  uint8_t* page = page_of(kv, args.rows.page_tables[r], args.rows.positions[r]);
  const int64_t slot = args.rows.positions[r] % kPageTokens;
  const int64_t key_panel = kPanelLanes * key_width(kv) * kv_element_bytes(kv.dtype);
  const int64_t value_panel = kPageTokens * kPanelLanes * kv_element_bytes(kv.dtype);
  for (int64_t h = 0; h < kv.n_kv_heads; ++h) {
    uint8_t* keys = keys_of(kv, page, h);
    scatter_row<P>({.to = keys + slot / kPanelLanes * key_panel,
                    .scale = keys + panels_bytes(kv, key_width(kv)) + 4 * slot,
                    .from = args.k.row(r) + h * kv.d_k,
                    .n = kv.d_k},
                   [&](int64_t i) { return P::offset(i, slot % kPanelLanes); });
    if (kv.values_in_keys) continue;
    uint8_t* values = values_of(kv, page, h);
    scatter_row<P>({.to = values,
                    .scale = values + panels_bytes(kv, value_width(kv)) + 4 * slot,
                    .from = args.v.row(r) + h * kv.d_v,
                    .n = kv.d_v},
                   [&](int64_t i) {
                     return i / kPanelLanes * value_panel + P::offset(slot, i % kPanelLanes);
                   });
  }
}

void store_kv(Lane& lane, const StoreKvArgs& args) {
  // Rows beside each other share cache lines.
  constexpr int64_t kRows = 16;
  lane.team->run(args.rows.n_rows, kRows, [&](int64_t begin, int64_t end, int) {
    for (int64_t r = begin; r < end; ++r) {
      switch (args.kv.dtype) {
        case KvDType::kF32:
          store_row<F32Panel>(args, r);
          break;
        case KvDType::kBF16:
          store_row<Bf16Panel>(args, r);
          break;
        case KvDType::kFp8:
          store_row<Fp8Panel>(args, r);
          break;
      }
    }
  });
}
