// bf16 weights times activations that are rounded to bf16: AVX-512 BF16, for steps that may round.
// The sums have an order of their own, so they are compared by a bound (docs/FORMATS.md).

/// The first n of 32 values, the others zero.
FT_INLINE Ints round_to_bf16(const float* x, int64_t n) {
  const auto first = [](int64_t k) {
    return static_cast<Mask>(k >= kLanes ? 0xFFFF : k <= 0 ? 0 : (1 << k) - 1);
  };
  return std::bit_cast<Ints>(_mm512_cvtne2ps_pbh(
      _mm512_maskz_loadu_ps(first(n - kLanes), x + kLanes), _mm512_maskz_loadu_ps(first(n), x)));
}

struct RoundedDot {
  static constexpr int kTile = 6;
  static constexpr int kWeights = 4;
  static constexpr int kRows = 60;
  static constexpr Decoding kDecoding = Decoding::kNever;
  static constexpr int kStep = 2 * kLanes;  // values of a vector

  static FT_INLINE int64_t packed_bytes(int64_t cols) {
    return (cols + kStep - 1) / kStep * kStep * 2 + 64;
  }
  static FT_INLINE int64_t decoded_bytes(int64_t) { return 0; }
  static FT_INLINE void decode(const Tile&, uint8_t*) {}

  static FT_INLINE void pack(const float* x, int64_t cols, uint8_t* to) {
    for (int64_t k = 0; k < cols; k += kStep)
      store_ints(to + 2 * k, round_to_bf16(x + k, cols - k));
  }

  /// A few rows of weights times kCount rows of activations. sums[m * kWeights + i]
  template <int kCount>
  static FT_INLINE void multiply_tile(int64_t cols, const uint8_t* const* weights,
                                      const uint8_t* const* rows, float* sums) {
    Floats partial[kCount][kWeights];
    unroll<kCount>([&](auto m) FT_INLINE_LAMBDA {
      unroll<kWeights>([&](auto i) FT_INLINE_LAMBDA { partial[m][i] = zero(); });
    });
    const auto add_step = [&](int64_t k, __mmask32 mask) FT_INLINE_LAMBDA {
      __m512bh w[kWeights];
      unroll<kWeights>([&](auto i) FT_INLINE_LAMBDA {
        __builtin_prefetch(weights[i] + 2 * k + kPrefetchBytes / kWeights, 0, 2);
        w[i] = std::bit_cast<__m512bh>(_mm512_maskz_loadu_epi16(mask, weights[i] + 2 * k));
      });
      unroll<kCount>([&](auto m) FT_INLINE_LAMBDA {
        const auto x = std::bit_cast<__m512bh>(load_ints(rows[m] + 2 * k));
        unroll<kWeights>([&](auto i) FT_INLINE_LAMBDA {
          partial[m][i] = _mm512_dpbf16_ps(partial[m][i], w[i], x);
        });
      });
    };
    const int64_t n_whole = cols / kStep * kStep;
    for (int64_t k = 0; k < n_whole; k += kStep) add_step(k, 0xFFFFFFFF);
    if (n_whole < cols) add_step(n_whole, (1u << (cols - n_whole)) - 1);
    unroll<kCount>([&](auto m) FT_INLINE_LAMBDA {
      _mm_storeu_ps(sums + m * kWeights, fold_lanes(partial[m]));
    });
  }

  static FT_INLINE void multiply(const Tile& tile, float* sums) {
    const uint8_t* weights[kWeights];
    for (int i = 0; i < kWeights; ++i)
      weights[i] = tile.w.codes + (tile.n + (i < tile.n_weights ? i : 0)) * tile.w.row_bytes;
    int first = 0;
    for (; first + kTile <= tile.n_rows; first += kTile)
      multiply_tile<kTile>(tile.w.cols, weights, tile.rows + first, sums + first * kWeights);
    unroll<kTile>([&](auto n) FT_INLINE_LAMBDA {
      if (n > 0 && tile.n_rows - first == n)
        multiply_tile<n == 0 ? 1 : n>(tile.w.cols, weights, tile.rows + first,
                                      sums + first * kWeights);
    });
  }
};
