// dot.inl's int8 partner on AMX tiles. A tile sums the products of one block for 16 rows of weights and
// 16 of activations exactly; what follows is the specification's order, so the bits are the same.

/// Sixteen scales of a row of weights.
template <typename F>
FT_INLINE Floats sixteen_scales(const uint8_t* from) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  if constexpr (std::is_same_v<F, Mxfp4>) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu8_epi32(bytes), 23));
  } else {
    return _mm512_cvtph_ps(_mm256_slli_epi16(_mm256_cvtepu8_epi16(bytes), 7));
  }
}

template <typename F>
struct AmxInt8Dot {
  static constexpr int kWeights = kTileRows;
  static constexpr int kRows = 128;
  static constexpr Decoding kDecoding = Decoding::kAlways;
  static constexpr int kBlock = F::kBlock;
  static constexpr int kBlocks = F::kChunkValues / kBlock;  // of a chunk

  /// A packed row: the quants of each block, evens before odds, and its scale.
  static constexpr int kRowBlockBytes = kBlock + static_cast<int>(sizeof(float));
  /// A block of a group of activations and of decoded weights: [kBlock / 4][row][4] quants of the
  /// former, [row][kBlock] codes of the latter; then the scale of each row.
  static constexpr int kScales = kBlock * kTileRows;
  static constexpr int kBlockBytes = kRowBlockBytes * kTileRows;

  static FT_INLINE int64_t packed_bytes(int64_t cols) { return cols / kBlock * kRowBlockBytes; }
  static FT_INLINE int64_t group_bytes(int64_t cols) { return cols / kBlock * kBlockBytes; }
  static FT_INLINE int64_t decoded_bytes(int64_t cols) { return group_bytes(cols); }

  static FT_INLINE void pack(const float* x, int64_t cols, uint8_t* to) {
    for (int64_t k = 0; k < cols; k += kBlock, to += kRowBlockBytes) {
      int8_t quants[kBlock];
      float scale = 0;
      quantise_block<kBlock>(x + k, quants, &scale);
      for (int j = 0; j < kBlock; ++j)
        to[j % 2 * (kBlock / 2) + j / 2] = static_cast<uint8_t>(quants[j]);
      __builtin_memcpy(to + kBlock, &scale, sizeof(scale));
    }
  }

  static FT_INLINE void group(const uint8_t* const* rows, int64_t cols, uint8_t* to) {
    for (int64_t b = 0; b < cols / kBlock; ++b, to += kBlockBytes) {
      for (int i = 0; i < kTileRows; ++i) {
        const uint8_t* block = rows[i] + b * kRowBlockBytes;
        for (int k = 0; k <= kBlock / 4; ++k)  // the last word is the scale
          __builtin_memcpy(to + k * 4 * kTileRows + i * 4, block + 4 * k, 4);
      }
    }
  }

  static FT_INLINE void decode(const Tile& tile, uint8_t* to) {
    const WeightView& w = tile.w;
    const __m128i doubled = _mm_setr_epi8(0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12);
    const __m128i nibble = _mm_set1_epi8(15);
    for (int i = 0; i < kTileRows; ++i) {
      const uint8_t* codes = w.codes + (tile.n + (i < tile.n_weights ? i : 0)) * w.row_bytes;
      uint8_t* out = to + i * kBlock;
      for (int64_t k = 0; k < w.cols; k += F::kChunkValues, codes += kChunkBytes) {
        const __m128i both = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes));
        const __m128i even = _mm_shuffle_epi8(doubled, _mm_and_si128(both, nibble));
        const __m128i odd =
            _mm_shuffle_epi8(doubled, _mm_and_si128(_mm_srli_epi16(both, 4), nibble));
        if constexpr (kBlocks == 1) {
          store_half(out, even);
          store_half(out + kChunkBytes, odd);
        } else {
          store_half(out, _mm_unpacklo_epi64(even, odd));
          if (k + kBlock < w.cols) store_half(out + kBlockBytes, _mm_unpackhi_epi64(even, odd));
        }
        out += kBlocks * kBlockBytes;
      }
    }
    decode_scales(tile, to + kScales);
  }
  static FT_INLINE void store_half(uint8_t* to, __m128i x) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), x);
  }

  static FT_INLINE void decode_scales(const Tile& tile, uint8_t* to) {
    const int64_t n_blocks = tile.w.cols / kBlock;
    for (int64_t b = 0; b < n_blocks; b += kTileRows) {
      Ints r[kTileRows];
      for (int i = 0; i < kTileRows; ++i) {
        const int64_t n = tile.n + (i < tile.n_weights ? i : 0);
        r[i] = std::bit_cast<Ints>(sixteen_scales<F>(scale_row<F>(tile.w, n) + b));
      }
      transpose_words(r);
      for (int j = 0; j < kTileRows && b + j < n_blocks; ++j)
        store_ints(to + (b + j) * kBlockBytes, r[j]);
    }
  }

  /// Sums of one partial for 16 rows of weights, a lane for each row of activations: those of its
  /// chunks from first to last.
  static FT_INLINE void add_partial(const Tile& tile, const uint8_t* group, int64_t partial,
                                    Floats (&sums)[kTileRows]) {
    const int64_t n_blocks = tile.w.cols / kBlock;
    for (int64_t first = partial * kBlocks; first < n_blocks; first += kPartials * kBlocks) {
      for (int64_t b = first; b < first + kBlocks && b < n_blocks; ++b) {
        const uint8_t* weights = tile.decoded + b * kBlockBytes;
        const uint8_t* rows = group + b * kBlockBytes;
        alignas(64) int32_t products[kTileRows][kTileRows];
        _tile_loadd(4, weights, kBlock);
        _tile_loadd(6, rows, 64);
        _tile_zero(0);
        _tile_dpbssd(0, 4, 6);
        _tile_stored(0, products, 64);
        const Floats x_scales = load_floats(rows + kScales);
        unroll<kTileRows>([&](auto i) FT_INLINE_LAMBDA {
          const Floats scale = splat(load<float>(weights + kScales + 4 * i)) * x_scales;
          sums[i] = fma32(scale, to_floats(load_ints(products[i])), sums[i]);
        });
      }
    }
  }

  /// One group of activations. Partials come in the order in which they are folded (16, 8, 4, 2, 1
  /// apart), so that few are kept at a time. sums[m * kWeights + i]
  static FT_INLINE void multiply_group(const Tile& tile, const uint8_t* group, float* sums) {
    constexpr int kLevels = 5;
    static_assert(1 << kLevels == kPartials);
    Floats kept[kLevels][kTileRows];
    Floats now[kTileRows];
    for (uint32_t turn = 0; turn < kPartials; ++turn) {
      uint32_t partial = 0;
      for (int bit = 0; bit < kLevels; ++bit) partial |= (turn >> bit & 1) << (kLevels - 1 - bit);
      unroll<kTileRows>([&](auto i) FT_INLINE_LAMBDA { now[i] = zero(); });
      add_partial(tile, group, partial, now);
      int level = 0;
      for (; (turn >> level & 1) != 0; ++level)
        unroll<kTileRows>([&](auto i) FT_INLINE_LAMBDA { now[i] = kept[level][i] + now[i]; });
      if (level < kLevels)
        unroll<kTileRows>([&](auto i) FT_INLINE_LAMBDA { kept[level][i] = now[i]; });
    }
    const Floats factor = splat(F::kRowFactor * tile.w.factor);
    Ints r[kTileRows];
    unroll<kTileRows>([&](auto i)
                          FT_INLINE_LAMBDA { r[i] = std::bit_cast<Ints>(now[i] * factor); });
    store_turned(r, sums, kWeights);
  }

  /// sums[m * kWeights + i]
  static FT_INLINE void multiply(const Tile& tile, float* sums) {
    const TileShapes shapes(kBlock);
    written(tile.decoded);
    for (int first = 0; first < tile.n_rows; first += kTileRows)
      multiply_group(tile, tile.rows[first], sums + first * kWeights);
  }
};

/// Formats whose codes this dot can decode.
template <typename F>
constexpr bool kHasAmxDot = std::is_same_v<F, Mxfp4> || std::is_same_v<F, Nvfp4>;

template <typename F>
constexpr int kGroupRows<AmxInt8Dot<F>> = kTileRows;
