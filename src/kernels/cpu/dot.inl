// One row of weights times several packed rows of activations: the arithmetic of every format, in
// one place. A segment is 32 chunks, one for each partial sum. Values behind the end of a row take
// no part, not even as zeros: adding 0 * 0 would turn a partial of -0 into +0.

constexpr int kRowTile = 16;  // activation rows that share one decoded segment

/// The packed rows of one tile: ids[0 .. count), or 0, 1, ... where ids is nullptr. At most
/// kRowTile.
struct Tile {
  const int32_t* ids = nullptr;
  int count = 0;

  FT_INLINE int64_t row(int m) const { return ids == nullptr ? m : ids[m]; }
};

/// How many of the 32 chunks of a segment have a value (or block) at position j, with `left` values
/// in `per_chunk`-sized chunks.
FT_INLINE int lanes_with(int64_t left, int j, int per_chunk) {
  const int64_t n = (left - j + per_chunk - 1) / per_chunk;
  return n < 0 ? 0 : static_cast<int>(n < kPartials ? n : kPartials);
}

template <typename F>
FT_INLINE const uint8_t* scale_row(const WeightView& w, int64_t n) {
  return w.scales + (w.first_row + n) / F::kScaleRows * w.scale_row_bytes;
}

/// int8 partner: each block's products are summed exactly, then one fused multiply-add with both
/// scales.
template <typename F>
FT_INLINE void dot_segment_int8(const WeightView& w, int64_t n, int64_t segment, const Packed& x,
                                const Tile& tile, float (*partial)[kPartials]) {
  constexpr int kSegment = F::kChunkValues * kPartials;
  constexpr int kBlocks = F::kChunkValues / F::kBlock;  // blocks of a chunk
  const int64_t left = w.cols - segment * kSegment;
  const uint8_t* codes = w.codes + n * w.row_bytes + segment * kPartials * kChunkBytes;
  const uint8_t* scales = scale_row<F>(w, n);
  const int64_t first_block = segment * kPartials * kBlocks;
  const int n_blocks = static_cast<int>((left < kSegment ? left : kSegment) / F::kBlock);
  alignas(64) int8_t values[kSegment];
  for (int b = 0; b < n_blocks; ++b)
    F::unpack(codes + b * F::kBlock * F::kBits / 8, values + b * F::kBlock);
  for (int b = 0; b < kBlocks; ++b) {
    const int n_lanes = lanes_with(left, b * F::kBlock, F::kChunkValues);
    float weight_scales[kPartials];
    for (int l = 0; l < n_lanes; ++l)
      weight_scales[l] = F::scale(scales, first_block + l * kBlocks + b);
    for (int m = 0; m < tile.count; ++m) {
      const int64_t row = tile.row(m);
      const int8_t* quants = x.quants + row * x.quant_stride + segment * kSegment + b * F::kBlock;
      const float* x_scales = x.scales + row * x.scale_stride + first_block + b;
      for (int l = 0; l < n_lanes; ++l) {
        int32_t sum = 0;
        for (int i = 0; i < F::kBlock; ++i) {
          sum += values[(l * kBlocks + b) * F::kBlock + i] * quants[l * F::kChunkValues + i];
        }
        partial[m][l] =
            fma32(weight_scales[l] * x_scales[l * kBlocks], static_cast<float>(sum), partial[m][l]);
      }
    }
  }
}

/// Decodes a segment to [j][32], dequantised where kExact.
template <typename F, bool kExact>
FT_INLINE void decode_segment(const WeightView& w, int64_t n, int64_t segment, float* values) {
  constexpr int kSegment = F::kChunkValues * kPartials;
  const int64_t left = w.cols - segment * kSegment;
  const uint8_t* codes = w.codes + n * w.row_bytes + segment * kPartials * kChunkBytes;
  const uint8_t* scales = scale_row<F>(w, n);
  for (int j = 0; j < F::kChunkValues; ++j) {
    const int n_lanes = lanes_with(left, j, F::kChunkValues);
    for (int l = 0; l < n_lanes; ++l) {
      if constexpr (kExact || F::kPartner == Partner::kInt8) {
        const int64_t k = segment * kSegment + l * F::kChunkValues + j;
        values[j * kPartials + l] = F::dequantise(codes + l * kChunkBytes, j, scales,
                                                  F::kBlock == 0 ? 0 : k / F::kBlock, w.factor);
      } else {
        values[j * kPartials + l] = F::value(codes + l * kChunkBytes, j);
      }
    }
  }
}

/// float partner: a fused multiply-add for each value. With scales, a chunk is summed from zero and
/// then added with its scale.
template <typename F, bool kExact>
FT_INLINE void dot_segment_float(const WeightView& w, int64_t n, int64_t segment, const Packed& x,
                                 const Tile& tile, float (*partial)[kPartials]) {
  constexpr int kSegment = F::kChunkValues * kPartials;
  constexpr bool kScaled = F::kBlock != 0 && !kExact;
  const int64_t left = w.cols - segment * kSegment;
  alignas(64) float values[kSegment];
  decode_segment<F, kExact>(w, n, segment, values);
  float scales[kPartials];
  if constexpr (kScaled) {
    const int n_lanes = lanes_with(left, 0, F::kChunkValues);
    for (int l = 0; l < n_lanes; ++l) {
      scales[l] =
          F::scale(scale_row<F>(w, n), (segment * kSegment + l * F::kChunkValues) / F::kBlock);
    }
  }
  for (int m = 0; m < tile.count; ++m) {
    const int64_t row = tile.row(m);
    const float* a = x.values + row * x.value_stride + segment * kSegment;
    float chunk_sums[kPartials] = {};
    float* sums = kScaled ? chunk_sums : partial[m];
    if (left >= kSegment) {
      for (int j = 0; j < F::kChunkValues; ++j) {
        for (int l = 0; l < kPartials; ++l) {
          sums[l] = fma32(values[j * kPartials + l], a[j * kPartials + l], sums[l]);
        }
      }
    } else {
      for (int j = 0; j < F::kChunkValues; ++j) {
        const int n_lanes = lanes_with(left, j, F::kChunkValues);
        for (int l = 0; l < n_lanes; ++l)
          sums[l] = fma32(values[j * kPartials + l], a[j * kPartials + l], sums[l]);
      }
    }
    if constexpr (kScaled) {
      const int n_lanes = lanes_with(left, 0, F::kChunkValues);
      for (int l = 0; l < n_lanes; ++l)
        partial[m][l] = fma32(scales[l], chunk_sums[l], partial[m][l]);
    }
  }
}

/// sums[m] = sum_k w[n, k] x[tile.row(m), k].
template <typename F, bool kExact>
FT_INLINE void dot_rows(const WeightView& w, int64_t n, const Packed& x, const Tile& tile,
                        float* sums) {
  constexpr int kSegment = F::kChunkValues * kPartials;
  alignas(64) float partial[kRowTile][kPartials];
  for (int m = 0; m < tile.count; ++m) {
    for (int l = 0; l < kPartials; ++l) partial[m][l] = 0;
  }
  for (int64_t s = 0; s * kSegment < w.cols; ++s) {
    if constexpr (F::kPartner == Partner::kInt8 && !kExact) {
      dot_segment_int8<F>(w, n, s, x, tile, partial);
    } else {
      dot_segment_float<F, kExact>(w, n, s, x, tile, partial);
    }
  }
  const float factor = kExact ? 1.0f : F::kRowFactor * w.factor;
  for (int m = 0; m < tile.count; ++m) sums[m] = fold32(partial[m]) * factor;
}

/// Rows [first, ...) of a packed batch as a batch of its own.
FT_INLINE Packed packed_from(const Packed& x, int64_t first) {
  Packed rest = x;
  if (x.quants != nullptr) {
    rest.quants += first * x.quant_stride;
    rest.scales += first * x.scale_stride;
  } else {
    rest.values += first * x.value_stride;
  }
  return rest;
}
