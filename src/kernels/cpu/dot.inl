// One row of weights times several packed rows of activations: the arithmetic of every format, in
// one place. This is the specification; dot_float.inl and dot_int8.inl do the same in vectors. A
// segment is 32 chunks, one for each partial sum. Values behind the end of a row take no part, not
// even as zeros: adding 0 * 0 would turn a partial of -0 into +0.

/// Rows of weights and of activations that are multiplied in one go.
struct Tile {
  const WeightView& w;
  int64_t n = 0;  // the first row of weights
  int n_weights = 0;
  const uint8_t* const* rows = nullptr;  // [n_rows], packed
  int n_rows = 0;
  const uint8_t* decoded = nullptr;  // the rows of weights, where decode() has been called
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

template <typename F>
constexpr int kSegmentOf = F::kChunkValues* kPartials;

/// Values whose products are summed in whole numbers: a block, or the part of it that a chunk holds.
template <typename F>
constexpr int kPieceOf = F::kBlock < F::kChunkValues ? F::kBlock : F::kChunkValues;

/// Decodes a segment to [j][32], dequantised where kExact.
template <typename F, bool kExact>
FT_INLINE void decode_segment(const WeightView& w, int64_t n, int64_t segment, float* values) {
  constexpr int kSegment = kSegmentOf<F>;
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

/// When the driver calls decode(): where that pays, always, or never.
enum class Decoding : uint8_t { kNever, kForMany, kAlways };

constexpr int kPlainRows = 16;  // of activations that share a decoded segment

/// The part that all plain dots share: partial sums over segments, folded at the end.
template <typename Segment>
FT_INLINE void sum_segments(const Tile& tile, int segment_values, float factor, float* sums,
                            Segment add_segment) {
  alignas(64) float partial[kPlainRows][kPartials];
  for (int m = 0; m < tile.n_rows; ++m) {
    for (int l = 0; l < kPartials; ++l) partial[m][l] = 0;
  }
  for (int64_t s = 0; s * segment_values < tile.w.cols; ++s) add_segment(s, partial);
  for (int m = 0; m < tile.n_rows; ++m) sums[m] = fold32(partial[m]) * factor;
}

/// float partner: a fused multiply-add for each value. With scales, a chunk is summed from zero and
/// then added with its scale. A packed row holds, for each segment, value j of all 32 chunks side by
/// side: [segment][j][32], zeros behind the end.
template <typename F, bool kExact>
struct PlainFloatDot {
  static constexpr int kWeights = 1;
  static constexpr int kRows = kPlainRows;
  static constexpr Decoding kDecoding = Decoding::kNever;
  static constexpr int kSegment = kSegmentOf<F>;
  static constexpr bool kScaled = F::kBlock != 0 && !kExact;

  static FT_INLINE int64_t packed_bytes(int64_t cols) {
    return (cols + kSegment - 1) / kSegment * kSegment * static_cast<int64_t>(sizeof(float));
  }
  static FT_INLINE int64_t decoded_bytes(int64_t) { return 0; }
  static FT_INLINE void decode(const Tile&, uint8_t*) {}

  static FT_INLINE void pack(const float* x, int64_t cols, uint8_t* to) {
    auto* values = reinterpret_cast<float*>(to);
    for (int64_t s = 0; s * kSegment < cols; ++s) {
      for (int j = 0; j < F::kChunkValues; ++j) {
        for (int l = 0; l < kPartials; ++l) {
          const int64_t k = s * kSegment + l * F::kChunkValues + j;
          values[s * kSegment + j * kPartials + l] = k < cols ? x[k] : 0.0f;
        }
      }
    }
  }

  static FT_INLINE void multiply(const Tile& tile, float* sums) {
    const float factor = kExact ? 1.0f : F::kRowFactor * tile.w.factor;
    sum_segments(tile, kSegment, factor, sums,
                 [&](int64_t s, float(*partial)[kPartials]) { add_segment(tile, s, partial); });
  }

  static FT_INLINE void add_segment(const Tile& tile, int64_t segment,
                                    float (*partial)[kPartials]) {
    const int64_t left = tile.w.cols - segment * kSegment;
    alignas(64) float values[kSegment];
    decode_segment<F, kExact>(tile.w, tile.n, segment, values);
    for (int m = 0; m < tile.n_rows; ++m) {
      const float* a = reinterpret_cast<const float*>(tile.rows[m]) + segment * kSegment;
      float chunk_sums[kPartials] = {};
      float* sums = kScaled ? chunk_sums : partial[m];
      for (int j = 0; j < F::kChunkValues; ++j) {
        const int n_lanes = lanes_with(left, j, F::kChunkValues);
        for (int l = 0; l < n_lanes; ++l)
          sums[l] = fma32(values[j * kPartials + l], a[j * kPartials + l], sums[l]);
      }
      if constexpr (kScaled) {
        const uint8_t* scales = scale_row<F>(tile.w, tile.n);
        const int n_lanes = lanes_with(left, 0, F::kChunkValues);
        for (int l = 0; l < n_lanes; ++l) {
          const float scale =
              F::scale(scales, (segment * kSegment + l * F::kChunkValues) / F::kBlock);
          partial[m][l] = fma32(scale, chunk_sums[l], partial[m][l]);
        }
      }
    }
  }
};

/// int8 partner: each piece's products are summed exactly, then one fused multiply-add with both
/// scales of its block. A packed row holds the quants of all pieces, even positions of a piece before
/// odd ones as the format unpacks its codes, then a float32 scale for each block.
template <typename F>
struct PlainInt8Dot {
  static constexpr int kWeights = 1;
  static constexpr int kRows = kPlainRows;
  static constexpr Decoding kDecoding = Decoding::kNever;
  static constexpr int kSegment = kSegmentOf<F>;
  static constexpr int kPiece = kPieceOf<F>;
  static constexpr int kPieces = F::kChunkValues / kPiece;  // of a chunk

  /// Formats with this partner have whole blocks only: cols is a multiple of kBlock.
  static FT_INLINE int64_t packed_bytes(int64_t cols) {
    return cols + cols / F::kBlock * static_cast<int64_t>(sizeof(float));
  }
  static FT_INLINE int64_t decoded_bytes(int64_t) { return 0; }
  static FT_INLINE void decode(const Tile&, uint8_t*) {}

  static FT_INLINE void pack(const float* x, int64_t cols, uint8_t* to) {
    auto* quants = reinterpret_cast<int8_t*>(to);
    auto* scales = reinterpret_cast<float*>(to + cols);
    for (int64_t b = 0; b < cols / F::kBlock; ++b) {
      int8_t block[F::kBlock];
      quantise_block<F::kBlock>(x + b * F::kBlock, block, scales + b);
      for (int i = 0; i < F::kBlock; ++i) {
        const int j = i % kPiece;
        quants[b * F::kBlock + i - j + j % 2 * (kPiece / 2) + j / 2] = block[i];
      }
    }
  }

  static FT_INLINE void multiply(const Tile& tile, float* sums) {
    sum_segments(tile, kSegment, F::kRowFactor * tile.w.factor, sums,
                 [&](int64_t s, float(*partial)[kPartials]) { add_segment(tile, s, partial); });
  }

  static FT_INLINE void add_segment(const Tile& tile, int64_t segment,
                                    float (*partial)[kPartials]) {
    const WeightView& w = tile.w;
    const int64_t left = w.cols - segment * kSegment;
    const uint8_t* codes = w.codes + tile.n * w.row_bytes + segment * kPartials * kChunkBytes;
    const uint8_t* scales = scale_row<F>(w, tile.n);
    const int n_pieces = static_cast<int>((left < kSegment ? left : kSegment) / kPiece);
    alignas(64) int8_t values[kSegment];
    for (int i = 0; i < n_pieces; ++i)
      F::unpack(codes + i * kPiece * F::kBits / 8, values + i * kPiece);
    for (int b = 0; b < kPieces; ++b) {
      const int n_lanes = lanes_with(left, b * kPiece, F::kChunkValues);
      for (int m = 0; m < tile.n_rows; ++m) {
        const auto* quants = reinterpret_cast<const int8_t*>(tile.rows[m]) + segment * kSegment;
        const uint8_t* x_scales = tile.rows[m] + w.cols;
        for (int l = 0; l < n_lanes; ++l) {
          const int64_t first = (l * kPieces + b) * kPiece;
          int32_t sum = 0;
          for (int i = 0; i < kPiece; ++i) sum += values[first + i] * quants[first + i];
          const int64_t block = (segment * kSegment + first) / F::kBlock;
          const float scale = F::scale(scales, block) * load<float>(x_scales + 4 * block);
          partial[m][l] = fma32(scale, static_cast<float>(sum), partial[m][l]);
        }
      }
    }
  }
};

template <typename F, bool kExact>
using PlainDot = std::conditional_t<F::kPartner == Partner::kInt8 && !kExact, PlainInt8Dot<F>,
                                    PlainFloatDot<F, kExact>>;
