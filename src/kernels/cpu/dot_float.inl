// dot.inl's float partner in vectors. One row of activations: weights are decoded in registers and
// used at once. More rows: a few rows of weights are decoded to the form of packed activations, and
// multiplied with a few rows of these out of registers.

/// Distance at which weights are asked for before they are needed.
constexpr int64_t kPrefetchBytes = 4096;

FT_INLINE void prefetch(const uint8_t* from, int n_bytes) {
  for (int i = 0; i < n_bytes; i += 64) __builtin_prefetch(from + kPrefetchBytes + i, 0, 2);
}

/// Whether a format is decoded by way of float16 (two bytes of a chunk a lane) or directly (four).
template <typename F>
constexpr bool kByHalves = std::is_same_v<F, F16> || std::is_same_v<F, Fp8Block>;

template <typename F>
FT_INLINE constexpr int place_of(int chunk) {
  return kByHalves<F> ? half_place(chunk) : word_place(chunk);
}

/// The lanes of vector kVector of a segment whose chunk is one of its first n.
template <typename F, int kVector>
FT_INLINE Mask lanes_of_first(int n) {
  if constexpr (kByHalves<F>) {
    return half_mask<kVector % 2>(n - kVector / 2 * 2 * kLanes);
  } else {
    return word_mask(n - kVector * kLanes);
  }
}

template <typename F>
FT_INLINE float fold(const VecF* partial) {
  return kByHalves<F> ? fold_halves(partial) : fold_words(partial);
}

/// fn(vector, j, values) for value j of all chunks of a vector, and all vectors of a segment that
/// has n_chunks chunks.
template <typename F, typename Fn>
FT_INLINE void for_each_value(const uint8_t* codes, int n_chunks, Fn fn) {
  if constexpr (kByHalves<F>) {
    unroll<kVectors / 2>([&](auto group) FT_INLINE_LAMBDA {
      if (group * 2 * kLanes >= n_chunks) return;
      const Halves halves = load_halves(codes + group * 2 * kLanes * kChunkBytes);
      unroll<8>([&](auto k) FT_INLINE_LAMBDA {
        if constexpr (std::is_same_v<F, F16>) {
          fn(constant<2 * group>, k, floats_of<0>(halves.h[k]));
          fn(constant<2 * group + 1>, k, floats_of<1>(halves.h[k]));
        } else {
          const VecI low = low_e4m3(halves.h[k]);
          const VecI high = high_e4m3(halves.h[k]);
          fn(constant<2 * group>, constant<2 * k>, floats_of<0>(low));
          fn(constant<2 * group + 1>, constant<2 * k>, floats_of<1>(low));
          fn(constant<2 * group>, constant<2 * k + 1>, floats_of<0>(high));
          fn(constant<2 * group + 1>, constant<2 * k + 1>, floats_of<1>(high));
        }
      });
    });
  } else {
    unroll<kVectors>([&](auto v) FT_INLINE_LAMBDA {
      if (v * kLanes >= n_chunks) return;
      const Words words = load_words(codes + v * kLanes * kChunkBytes);
      unroll<4>([&](auto k) FT_INLINE_LAMBDA {
        if constexpr (std::is_same_v<F, F32>) {
          fn(v, k, as_floats(words.w[k]));
        } else {
          fn(v, constant<2 * k>, low_bf16(words.w[k]));
          fn(v, constant<2 * k + 1>, high_bf16(words.w[k]));
        }
      });
    });
  }
}

template <typename F>
struct VectorFloatDot {
  static constexpr int kTile = kLanes == 16 ? 6 : 4;
  static constexpr int kWeights = kLanes == 16 ? 4 : 3;
  static constexpr int kFewestDecoded = 3;
  static constexpr int kChunk = F::kChunkValues;
  static constexpr int kSegment = kSegmentOf<F>;
  static constexpr bool kScaled = F::kBlock != 0;

  static FT_INLINE int64_t n_segments(int64_t cols) { return (cols + kSegment - 1) / kSegment; }

  /// A packed or decoded row: for each vector of partials the values of its lanes, segment by segment
  /// and j by j, so that what is read together lies together: [kVectors][segment][j][kLanes]. Behind
  /// a decoded row lie the scales of its chunks: [kVectors][segment][kLanes].
  static FT_INLINE int64_t at(int64_t n_segments, int vector, int64_t segment, int j) {
    return ((vector * n_segments + segment) * kChunk + j) * kLanes;
  }
  static FT_INLINE int64_t packed_bytes(int64_t cols) {
    return n_segments(cols) * kSegment * static_cast<int64_t>(sizeof(float));
  }
  static FT_INLINE int64_t decoded_row_bytes(int64_t cols) {
    const int64_t scales = kScaled ? n_segments(cols) * kPartials : 0;
    return packed_bytes(cols) + scales * static_cast<int64_t>(sizeof(float));
  }
  static FT_INLINE int64_t decoded_bytes(int64_t cols) {
    return kWeights * decoded_row_bytes(cols);
  }

  static FT_INLINE void pack(const float* x, int64_t cols, uint8_t* to) {
    auto* values = reinterpret_cast<float*>(to);
    const int64_t n = n_segments(cols);
    for (int64_t s = 0; s < n; ++s) {
      for (int chunk = 0; chunk < kPartials; ++chunk) {
        const int place = place_of<F>(chunk);
        float* out = values + at(n, place / kLanes, s, 0) + place % kLanes;
        const int64_t first = s * kSegment + chunk * kChunk;
        for (int j = 0; j < kChunk; ++j) out[j * kLanes] = first + j < cols ? x[first + j] : 0.0f;
      }
    }
  }

  /// The scales of the chunks of a segment, for all its vectors.
  static FT_INLINE void segment_scales(const uint8_t* scales, int64_t segment, int n_chunks,
                                       VecF* to) {
    constexpr int64_t kTiles = kSegment / (F::kBlock == 0 ? kSegment : F::kBlock);
    unroll<kVectors / 2>([&](auto group) FT_INLINE_LAMBDA {
      if (group * 2 * kLanes >= n_chunks) return;
      const int64_t first = segment * kTiles + group * kTiles / (kVectors / 2);
      to[2 * group] = to[2 * group + 1] =
          spread_tile_scales(scales + first * static_cast<int64_t>(sizeof(float)));
    });
  }

  static FT_INLINE int chunks_left(const WeightView& w, int64_t segment) {
    return lanes_with(w.cols - segment * kSegment, 0, kChunk);
  }

  /// Adds a segment of one row of weights times one row of activations. kWhole: it has all values.
  template <bool kWhole>
  static FT_INLINE void add_segment(const WeightView& w, const uint8_t* codes,
                                    const uint8_t* scales, const float* x, int64_t segment,
                                    VecF* partial) {
    const int64_t n = n_segments(w.cols);
    const int n_chunks = kWhole ? kPartials : chunks_left(w, segment);
    VecF chunk_sums[kVectors];
    for (int v = 0; v < kVectors; ++v) chunk_sums[v] = zero();
    VecF* sums = kScaled ? chunk_sums : partial;
    prefetch(codes, kPartials * kChunkBytes);
    for_each_value<F>(codes, n_chunks, [&](auto v, auto j, VecF values) FT_INLINE_LAMBDA {
      const VecF a = load_floats(x + at(n, v, segment, j));
      if constexpr (kWhole) {
        sums[v] = fma(values, a, sums[v]);
      } else {
        const int n_lanes = lanes_with(w.cols - segment * kSegment, j, kChunk);
        sums[v] = fma(lanes_of_first<F, v>(n_lanes), values, a, sums[v]);
      }
    });
    if constexpr (kScaled) {
      VecF factors[kVectors] = {};
      segment_scales(scales, segment, n_chunks, factors);
      unroll<kVectors>([&](auto v) FT_INLINE_LAMBDA {
        if (kWhole) {
          partial[v] = fma(factors[v], sums[v], partial[v]);
        } else if (v / 2 * 2 * kLanes < n_chunks) {
          partial[v] = fma(lanes_of_first<F, v>(n_chunks), factors[v], sums[v], partial[v]);
        }
      });
    }
  }

  static FT_INLINE float dot(const WeightView& w, int64_t n, const uint8_t* packed) {
    const auto* x = reinterpret_cast<const float*>(packed);
    const uint8_t* codes = w.codes + n * w.row_bytes;
    const uint8_t* scales = scale_row<F>(w, n);
    const int64_t n_whole = w.cols / kSegment;
    VecF partial[kVectors];
    for (int v = 0; v < kVectors; ++v) partial[v] = zero();
    int64_t s = 0;
    for (; s < n_whole; ++s, codes += kPartials * kChunkBytes)
      add_segment<true>(w, codes, scales, x, s, partial);
    if (s * kSegment < w.cols) add_segment<false>(w, codes, scales, x, s, partial);
    return fold<F>(partial) * (F::kRowFactor * w.factor);
  }

  /// The rows of weights of a tile in the form of packed rows.
  static FT_INLINE void decode(const Tile& tile, uint8_t* to) {
    const WeightView& w = tile.w;
    const int64_t n = n_segments(w.cols);
    for (int i = 0; i < tile.n_weights; ++i) {
      auto* values = reinterpret_cast<float*>(to + i * decoded_row_bytes(w.cols));
      auto* factors = values + n * kSegment;
      const uint8_t* codes = w.codes + (tile.n + i) * w.row_bytes;
      for (int64_t s = 0; s < n; ++s, codes += kPartials * kChunkBytes) {
        const int n_chunks = chunks_left(w, s);
        for_each_value<F>(codes, n_chunks, [&](auto v, auto j, VecF x) FT_INLINE_LAMBDA {
          store_floats(values + at(n, v, s, j), x);
        });
        if constexpr (kScaled) {
          VecF scales[kVectors] = {};
          segment_scales(scale_row<F>(w, tile.n + i), s, n_chunks, scales);
          for (int v = 0; v < kVectors; ++v)
            store_floats(factors + (v * n + s) * kLanes, scales[v]);
        }
      }
    }
  }

  /// Rows of weights and of activations that are multiplied out of registers; a tile that is not
  /// full repeats its first rows.
  struct Pointers {
    const float* w[kWeights];
    const float* factors[kWeights];  // of the chunks, where the format has scales
    const float* x[kTile];
  };

  /// One vector of partials of all pairs, over all segments.
  template <int kVector>
  static FT_INLINE void add_vector(const WeightView& w, const Pointers& rows,
                                   VecF (*partial)[kTile][kVectors]) {
    const int64_t n = n_segments(w.cols);
    VecF sums[kWeights][kTile];
    for (auto& row : sums) {
      for (VecF& sum : row) sum = zero();
    }
    VecF totals[kWeights][kTile];
    for (auto& row : totals) {
      for (VecF& total : row) total = zero();
    }
    for (int64_t s = 0; s < n; ++s) {
      const int64_t left = w.cols - s * kSegment;
      const int64_t first = at(n, kVector, s, 0);
      if (left >= kSegment) {
        for (int j = 0; j < kChunk; ++j) add_products<true>(rows, first + j * kLanes, Mask{}, sums);
      } else {
        for (int j = 0; j < kChunk; ++j) {
          const Mask mask = lanes_of_first<F, kVector>(lanes_with(left, j, kChunk));
          add_products<false>(rows, first + j * kLanes, mask, sums);
        }
      }
      if constexpr (kScaled) {
        const Mask mask = lanes_of_first<F, kVector>(lanes_with(left, 0, kChunk));
        for (int i = 0; i < kWeights; ++i) {
          const VecF factor = load_floats(rows.factors[i] + (kVector * n + s) * kLanes);
          for (int m = 0; m < kTile; ++m) {
            totals[i][m] = fma(mask, factor, sums[i][m], totals[i][m]);
            sums[i][m] = zero();
          }
        }
      }
    }
    for (int i = 0; i < kWeights; ++i) {
      for (int m = 0; m < kTile; ++m) partial[i][m][kVector] = kScaled ? totals[i][m] : sums[i][m];
    }
  }

  template <bool kWhole>
  static FT_INLINE void add_products(const Pointers& rows, int64_t offset, Mask mask,
                                     VecF (*sums)[kTile]) {
    VecF w[kWeights];
    for (int i = 0; i < kWeights; ++i) w[i] = load_floats(rows.w[i] + offset);
    for (int m = 0; m < kTile; ++m) {
      const VecF x = load_floats(rows.x[m] + offset);
      for (int i = 0; i < kWeights; ++i)
        sums[i][m] = kWhole ? fma(w[i], x, sums[i][m]) : fma(mask, w[i], x, sums[i][m]);
    }
  }

  static FT_INLINE void multiply(const Tile& tile, float (*sums)[kTile]) {
    const WeightView& w = tile.w;
    if (tile.decoded == nullptr) {
      for (int i = 0; i < tile.n_weights; ++i) {
        for (int m = 0; m < tile.n_rows; ++m) sums[i][m] = dot(w, tile.n + i, tile.rows[m]);
      }
      return;
    }
    Pointers rows;
    for (int i = 0; i < kWeights; ++i) {
      const int row = i < tile.n_weights ? i : 0;
      rows.w[i] = reinterpret_cast<const float*>(tile.decoded + row * decoded_row_bytes(w.cols));
      rows.factors[i] = rows.w[i] + n_segments(w.cols) * kSegment;
    }
    for (int m = 0; m < kTile; ++m)
      rows.x[m] = reinterpret_cast<const float*>(tile.rows[m < tile.n_rows ? m : 0]);
    VecF partial[kWeights][kTile][kVectors];
    unroll<kVectors>([&](auto v) FT_INLINE_LAMBDA { add_vector<v>(w, rows, partial); });
    for (int i = 0; i < kWeights; ++i) {
      for (int m = 0; m < kTile; ++m)
        sums[i][m] = fold<F>(partial[i][m]) * (F::kRowFactor * w.factor);
    }
  }
};
