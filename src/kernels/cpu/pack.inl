// Activations as the kernels of a format read them. Packed once for an operation, read for every
// row of weights.
//   int8 partner:   quants [n_blocks * kBlock], even positions of a block before odd ones, as the
//                   format unpacks its codes; one float32 scale a block, 0 for a block of zeros or
//                   tiny values
//   float partner:  for each segment of 32 chunks, value j of all 32 chunks side by side:
//                   [segment][j][32], zeros behind the end

struct Packed {
  const int8_t* quants = nullptr;
  const float* scales = nullptr;
  const float* values = nullptr;
  int64_t quant_stride = 0;  // of one row
  int64_t scale_stride = 0;
  int64_t value_stride = 0;
};

/// Largest magnitude to 127, round to nearest even by adding 1.5 * 2^23.
template <int kBlock>
FT_INLINE void quantise_block(const float* x, int8_t* quants, float* scale) {
  uint32_t largest = 0;
  for (int i = 0; i < kBlock; ++i) {
    const uint32_t magnitude = std::bit_cast<uint32_t>(x[i]) & 0x7FFFFFFFu;
    largest = magnitude > largest ? magnitude : largest;
  }
  const float amax = std::bit_cast<float>(largest);
  if (!(amax >= 0x1p-100f)) {  // also catches NaN: such a row is zero here, and NaN stays visible
                               // in the residual stream
    *scale = 0;
    for (int i = 0; i < kBlock; ++i) quants[i] = 0;
    return;
  }
  const float d = amax / 127.0f;
  const float inverse = 1.0f / d;
  *scale = d;
  for (int i = 0; i < kBlock; ++i) {
    const float shifted = fma32(x[i], inverse, 12582912.0f);
    quants[i % 2 * (kBlock / 2) + i / 2] =
        static_cast<int8_t>(std::bit_cast<int32_t>(shifted) - 0x4B400000);
  }
}

/// Formats with this partner have whole blocks only: cols is a multiple of kBlock.
template <typename F>
FT_INLINE void pack_row_int8(const float* x, int64_t cols, int8_t* quants, float* scales) {
  for (int64_t b = 0; b * F::kBlock < cols; ++b) {
    quantise_block<F::kBlock>(x + b * F::kBlock, quants + b * F::kBlock, scales + b);
  }
}

template <typename F>
FT_INLINE void pack_row_float(const float* x, int64_t cols, float* values) {
  constexpr int kSegment = F::kChunkValues * kPartials;
  const int64_t n_segments = (cols + kSegment - 1) / kSegment;
  for (int64_t s = 0; s < n_segments; ++s) {
    for (int j = 0; j < F::kChunkValues; ++j) {
      for (int l = 0; l < kPartials; ++l) {
        const int64_t k = s * kSegment + l * F::kChunkValues + j;
        values[s * kSegment + j * kPartials + l] = k < cols ? x[k] : 0.0f;
      }
    }
  }
}

/// Packs the n_rows * n_pieces rows of `cols` values at x.row(r) + piece * piece_stride, in that
/// order.
template <typename F, bool kExact>
FT_INLINE Packed pack_rows(Lane& lane, const TensorView& x, int64_t cols, int64_t n_pieces,
                           int64_t piece_stride) {
  const int64_t n_rows = x.rows * n_pieces;
  Packed packed;
  if constexpr (F::kPartner == Partner::kInt8 && !kExact) {
    packed.scale_stride = cols / F::kBlock;
    packed.quant_stride = packed.scale_stride * F::kBlock;
    int8_t* quants = lane.arena->alloc<int8_t>(n_rows * packed.quant_stride);
    float* scales = lane.arena->alloc<float>(n_rows * packed.scale_stride);
    packed.quants = quants;
    packed.scales = scales;
    lane.team->run(n_rows, 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) {
        pack_row_int8<F>(x.row(i / n_pieces) + i % n_pieces * piece_stride, cols,
                         quants + i * packed.quant_stride, scales + i * packed.scale_stride);
      }
    });
  } else {
    constexpr int kSegment = F::kChunkValues * kPartials;
    packed.value_stride = (cols + kSegment - 1) / kSegment * kSegment;
    float* values = lane.arena->alloc<float>(n_rows * packed.value_stride);
    packed.values = values;
    lane.team->run(n_rows, 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) {
        pack_row_float<F>(x.row(i / n_pieces) + i % n_pieces * piece_stride, cols,
                          values + i * packed.value_stride);
      }
    });
  }
  return packed;
}
