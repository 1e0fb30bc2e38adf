// dot.inl's float partner in vectors. One row of activations: weights are decoded in registers and
// used at once. More rows: a few rows of weights are decoded to the form of packed activations, and
// multiplied with a few rows of these at a time.

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

/// The partials of a sum as one vector, for fold_lanes().
template <typename F>
FT_INLINE Floats sum_vectors(const Floats* partial) {
  return kByHalves<F> ? sum_halves(partial) : sum_words(partial);
}

/// Chunks that are loaded together: they give one vector of words, or two of halves.
template <typename F>
constexpr int kGroupChunks = kByHalves<F> ? 2 * kLanes : kLanes;
template <typename F>
constexpr int kGroupVectors = kGroupChunks<F> / kLanes;

/// fn(vector, j, values) for value j of all chunks of the vectors of a group of a segment.
template <typename F, int kGroup, typename Fn>
FT_INLINE void for_each_value(const uint8_t* codes, Fn fn) {
  if constexpr (kByHalves<F>) {
    constexpr auto kFirst = constant<2 * kGroup>;
    constexpr auto kSecond = constant<2 * kGroup + 1>;
    const ChunkHalves halves = load_halves(codes);
    unroll<8>([&](auto k) FT_INLINE_LAMBDA {
      if constexpr (std::is_same_v<F, F16>) {
        fn(kFirst, k, floats_of<0>(halves.h[k]));
        fn(kSecond, k, floats_of<1>(halves.h[k]));
      } else {
        const Ints low = low_e4m3(halves.h[k]);
        const Ints high = high_e4m3(halves.h[k]);
        fn(kFirst, constant<2 * k>, floats_of<0>(low));
        fn(kSecond, constant<2 * k>, floats_of<1>(low));
        fn(kFirst, constant<2 * k + 1>, floats_of<0>(high));
        fn(kSecond, constant<2 * k + 1>, floats_of<1>(high));
      }
    });
  } else {
    const ChunkWords words = load_words(codes);
    unroll<4>([&](auto k) FT_INLINE_LAMBDA {
      if constexpr (std::is_same_v<F, F32>) {
        fn(constant<kGroup>, k, as_floats(words.w[k]));
      } else {
        fn(constant<kGroup>, constant<2 * k>, low_bf16(words.w[k]));
        fn(constant<kGroup>, constant<2 * k + 1>, high_bf16(words.w[k]));
      }
    });
  }
}

/// Which chunks of a segment there are.
struct Present {
  int n_whole = 0;  // chunks that have all their values
  int n_more = 0;   // values of the chunk behind them
};

template <typename F>
FT_INLINE Present present_of(int64_t cols, int64_t segment) {
  const int64_t left = cols - segment * kSegmentOf<F>;
  if (left >= kSegmentOf<F>) return {kPartials, 0};
  return {static_cast<int>(left / F::kChunkValues), static_cast<int>(left % F::kChunkValues)};
}

/// The lanes of a vector that have a value at position j of their chunk.
template <typename F, int kVector>
struct LaneMasks {
  Mask whole, all;
  int n_more;

  FT_INLINE explicit LaneMasks(const Present& p)
      : whole(lanes_of_first<F, kVector>(p.n_whole)),
        all(lanes_of_first<F, kVector>(p.n_whole + (p.n_more > 0 ? 1 : 0))),
        n_more(p.n_more) {}
  FT_INLINE Mask at(int j) const { return j < n_more ? all : whole; }
};

template <typename F>
struct VectorFloatDot {
  // Accumulators for all pairs of a tile, the activations and one weight fill the registers.
  static constexpr int kTile = 3;
  static constexpr int kWeights = kLanes == 16 ? 8 : 4;
  static constexpr int kRows = 64;
  static constexpr Decoding kDecoding = Decoding::kForMany;
  static constexpr int kChunk = F::kChunkValues;
  static constexpr int kSegment = kSegmentOf<F>;
  static constexpr bool kScaled = F::kBlock != 0;

  static FT_INLINE int64_t n_segments(int64_t cols) { return (cols + kSegment - 1) / kSegment; }

  /// A packed row: for each vector of partials the values of its lanes, segment by segment and j by j,
  /// so that what is read together lies together: [kVectors][segment][j][kLanes]. Decoded weights are
  /// the same with one row beside the other: [kVectors][segment][j][kWeights][kLanes]; behind them
  /// lie the scales of their chunks, [kVectors][segment][kWeights][kLanes].
  static FT_INLINE int64_t at(int64_t n_segments, int vector, int64_t segment, int j) {
    return ((vector * n_segments + segment) * kChunk + j) * kLanes;
  }
  /// A line more than the values, since rows that lie a power of two apart push each other out of the
  /// cache.
  static FT_INLINE int64_t packed_bytes(int64_t cols) {
    return n_segments(cols) * kSegment * static_cast<int64_t>(sizeof(float)) + 64;
  }
  static FT_INLINE int64_t decoded_bytes(int64_t cols) {
    const int64_t n_scales = kScaled ? n_segments(cols) * kPartials : 0;
    return kWeights * (n_segments(cols) * kSegment + n_scales) *
           static_cast<int64_t>(sizeof(float));
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

  static constexpr int kGroups = kPartials / kGroupChunks<F>;

  /// The scales of the chunks of the vectors of a group: one for all, since tiles are as wide as
  /// several chunks.
  static FT_INLINE Floats group_scales(const uint8_t* scales, int64_t segment, int group) {
    constexpr int64_t kTiles = kGroupChunks<F> * kChunk / (kScaled ? F::kBlock : 1);
    const int64_t first = (segment * kGroups + group) * kTiles;
    return spread_tile_scales(scales + first * static_cast<int64_t>(sizeof(float)));
  }

  /// Adds a group of one row of weights times one row of activations. kWhole: it has all values.
  template <int kGroup, bool kWhole>
  static FT_INLINE void add_group(const WeightView& w, const uint8_t* codes, const uint8_t* scales,
                                  const float* x, int64_t segment, Floats* partial) {
    constexpr int kCount = kGroupVectors<F>;
    constexpr int kFirst = kGroup * kCount;
    const int64_t n = n_segments(w.cols);
    const Present present = present_of<F>(w.cols, segment);
    const LaneMasks<F, kFirst> first(present);
    const LaneMasks<F, kFirst + kCount - 1> second(present);
    Floats sums[kCount];
    unroll<kCount>([&](auto i)
                       FT_INLINE_LAMBDA { sums[i] = kScaled ? zero() : partial[kFirst + i]; });
    for_each_value<F, kGroup>(codes, [&](auto v, auto j, Floats values) FT_INLINE_LAMBDA {
      const Floats a = load_floats(x + at(n, v, segment, j));
      Floats& sum = sums[v - kFirst];
      if constexpr (kWhole) {
        sum = fma32(values, a, sum);
      } else {
        sum = fma_where(v == kFirst ? first.at(j) : second.at(j), values, a, sum);
      }
    });
    unroll<kCount>([&](auto i) FT_INLINE_LAMBDA {
      Floats& total = partial[kFirst + i];
      if constexpr (!kScaled) {
        total = sums[i];
      } else if constexpr (kWhole) {
        total = fma32(group_scales(scales, segment, kGroup), sums[i], total);
      } else {
        total = fma_where(i == 0 ? first.all : second.all, group_scales(scales, segment, kGroup),
                          sums[i], total);
      }
    });
  }

  static FT_INLINE float dot(const WeightView& w, int64_t n, const uint8_t* packed) {
    const auto* x = reinterpret_cast<const float*>(packed);
    const uint8_t* codes = w.codes + n * w.row_bytes;
    const uint8_t* scales = scale_row<F>(w, n);
    const int64_t n_whole = w.cols / kSegment;
    Floats partial[kVectors];
    for (int v = 0; v < kVectors; ++v) partial[v] = zero();
    constexpr int64_t kGroupBytes = kGroupChunks<F> * kChunkBytes;
    for (int64_t s = 0; s < n_whole; ++s, codes += kPartials * kChunkBytes) {
      prefetch(codes, kPartials * kChunkBytes);
      unroll<kGroups>([&](auto g) FT_INLINE_LAMBDA {
        add_group<g, true>(w, codes + g * kGroupBytes, scales, x, s, partial);
      });
    }
    const Present present = present_of<F>(w.cols, n_whole);
    unroll<kGroups>([&](auto g) FT_INLINE_LAMBDA {
      if ((g + 1) * kGroupChunks<F> <= present.n_whole) {
        add_group<g, true>(w, codes + g * kGroupBytes, scales, x, n_whole, partial);
      } else if (g * kGroupChunks<F> < present.n_whole + present.n_more) {
        add_group<g, false>(w, codes + g * kGroupBytes, scales, x, n_whole, partial);
      }
    });
    return fold_lanes(sum_vectors<F>(partial)) * (F::kRowFactor * w.factor);
  }

  static FT_INLINE void decode(const Tile& tile, uint8_t* to) {
    const WeightView& w = tile.w;
    const int64_t n = n_segments(w.cols);
    auto* values = reinterpret_cast<float*>(to);
    float* factors = values + n * kSegment * kWeights;
    for (int i = 0; i < tile.n_weights; ++i) {
      const uint8_t* codes = w.codes + (tile.n + i) * w.row_bytes;
      for (int64_t s = 0; s < n; ++s, codes += kPartials * kChunkBytes) {
        unroll<kGroups>([&](auto g) FT_INLINE_LAMBDA {
          if (s * kSegment + g * kGroupChunks<F> * kChunk >= w.cols) return;
          const uint8_t* group = codes + g * kGroupChunks<F> * kChunkBytes;
          for_each_value<F, g>(group, [&](auto v, auto j, Floats x) FT_INLINE_LAMBDA {
            store_floats(values + at(n, v, s, j) * kWeights + i * kLanes, x);
          });
          if constexpr (kScaled) {
            const Floats scale = group_scales(scale_row<F>(w, tile.n + i), s, g);
            for (int v = g * kGroupVectors<F>; v < (g + 1) * kGroupVectors<F>; ++v)
              store_floats(factors + ((v * n + s) * kWeights + i) * kLanes, scale);
          }
        });
      }
    }
  }

  /// Decoded weights and a few rows of packed activations, which are multiplied in registers. Rows
  /// that are missing repeat the first one.
  struct Pointers {
    const float* w;
    const float* factors;
    const float* x[kTile];
  };

  /// One vector of partials of all pairs, over all segments.
  template <int kVector>
  static FT_INLINE void add_vector(const WeightView& w, const Pointers& rows,
                                   Floats (*partial)[kTile]) {
    const int64_t n = n_segments(w.cols);
    Floats sums[kWeights][kTile];
    Floats totals[kWeights][kTile];
    for (int i = 0; i < kWeights; ++i) {
      for (int m = 0; m < kTile; ++m) sums[i][m] = totals[i][m] = zero();
    }
    const auto add_chunks = [&](int64_t s) FT_INLINE_LAMBDA {  // of which all have their values
      const int64_t first = at(n, kVector, s, 0);
      unroll<kChunk>([&](auto j) FT_INLINE_LAMBDA {
        add_products<true>(rows, first + j * kLanes, Mask{}, sums);
      });
    };
    const auto add_scaled = [&](int64_t s, auto scale) FT_INLINE_LAMBDA {
      if constexpr (!kScaled) return;
      for (int i = 0; i < kWeights; ++i) {
        const Floats factor =
            load_floats(rows.factors + ((kVector * n + s) * kWeights + i) * kLanes);
        for (int m = 0; m < kTile; ++m) {
          totals[i][m] = scale(factor, sums[i][m], totals[i][m]);
          sums[i][m] = zero();
        }
      }
    };
    const auto plain = [](Floats a, Floats b, Floats c) FT_INLINE_LAMBDA { return fma32(a, b, c); };
    const int64_t n_whole = w.cols / kSegment;
    for (int64_t s = 0; s < n_whole; ++s) {
      add_chunks(s);
      add_scaled(s, plain);
    }
    constexpr int kFirstChunk = kVector / kGroupVectors<F> * kGroupChunks<F>;
    const Present present = present_of<F>(w.cols, n_whole);
    if (kFirstChunk + kGroupChunks<F> <= present.n_whole) {
      add_chunks(n_whole);
      add_scaled(n_whole, plain);
    } else if (kFirstChunk < present.n_whole + present.n_more) {
      const LaneMasks<F, kVector> masks(present);
      for (int j = 0; j < kChunk; ++j)
        add_products<false>(rows, at(n, kVector, n_whole, j), masks.at(j), sums);
      add_scaled(n_whole, [&](Floats a, Floats b, Floats c)
                              FT_INLINE_LAMBDA { return fma_where(masks.all, a, b, c); });
    }
    for (int i = 0; i < kWeights; ++i) {
      for (int m = 0; m < kTile; ++m) partial[i][m] = kScaled ? totals[i][m] : sums[i][m];
    }
  }

  template <bool kWhole>
  static FT_INLINE void add_products(const Pointers& rows, int64_t offset, Mask mask,
                                     Floats (*sums)[kTile]) {
    Floats x[kTile];
    for (int m = 0; m < kTile; ++m) x[m] = load_floats(rows.x[m] + offset);
    for (int i = 0; i < kWeights; ++i) {
      const Floats w = in_register(load_floats(rows.w + offset * kWeights + i * kLanes));
      for (int m = 0; m < kTile; ++m)
        sums[i][m] = kWhole ? fma32(w, x[m], sums[i][m]) : fma_where(mask, w, x[m], sums[i][m]);
    }
  }

  /// sums[m * kWeights + i]
  static FT_INLINE void multiply(const Tile& tile, float* sums) {
    const WeightView& w = tile.w;
    if (tile.decoded == nullptr) {
      for (int i = 0; i < tile.n_weights; ++i) {
        for (int m = 0; m < tile.n_rows; ++m)
          sums[m * kWeights + i] = dot(w, tile.n + i, tile.rows[m]);
      }
      return;
    }
    Pointers rows;
    rows.w = reinterpret_cast<const float*>(tile.decoded);
    rows.factors = rows.w + n_segments(w.cols) * kSegment * kWeights;
    // Vector by vector, so that this part of the decoded weights stays in the first-level cache while
    // all rows of activations go by.
    constexpr int kTiles = (kRows + kTile - 1) / kTile;
    const int n_tiles = (tile.n_rows + kTile - 1) / kTile;
    Floats partial[kVectors][kTiles][kWeights][kTile];
    unroll<kVectors>([&](auto v) FT_INLINE_LAMBDA {
      for (int t = 0; t < n_tiles; ++t) {
        for (int m = 0; m < kTile; ++m) {
          const int row = t * kTile + m;
          rows.x[m] = reinterpret_cast<const float*>(tile.rows[row < tile.n_rows ? row : 0]);
        }
        add_vector<v>(w, rows, partial[v][t]);
      }
    });
    const __m128 factor = _mm_set1_ps(F::kRowFactor * w.factor);
    for (int m = 0; m < tile.n_rows; ++m) {
      for (int i = 0; i < kWeights; i += 4) {
        Floats four[4];
        unroll<4>([&](auto k) FT_INLINE_LAMBDA {
          Floats all[kVectors];
          for (int v = 0; v < kVectors; ++v) all[v] = partial[v][m / kTile][i + k][m % kTile];
          four[k] = sum_vectors<F>(all);
        });
        _mm_storeu_ps(sums + m * kWeights + i, fold_lanes(four) * factor);
      }
    }
  }
};
