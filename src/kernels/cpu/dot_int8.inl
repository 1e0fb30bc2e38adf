// dot.inl's int8 partner in vectors: codes become unsigned bytes by a table look-up and are
// multiplied with signed ones; what the bias of the codes adds is taken off again by a correction
// that belongs to the activations.

/// Twice an e2m1 number plus this is an unsigned byte.
constexpr int32_t kCodeBias = 12;

template <typename F>
struct VectorInt8Dot {
  static constexpr int kTile = 8;
  static constexpr int kWeights = 1;
  static constexpr int kFewestDecoded = 1 << 30;  // codes are decoded in registers
  static constexpr int kChunk = F::kChunkValues;
  static constexpr int kSegment = kSegmentOf<F>;
  static constexpr int kBlocks = kChunk / F::kBlock;  // of a chunk
  static constexpr int kVectorBytes = 4 * kLanes;
  // A packed row, for each group of kLanes chunks: its quants as low and high half bytes of word 0
  // meet them, then of word 1, ...; then the corrections and the scales of each block.
  static constexpr int kCorrections = 8 * kVectorBytes;
  static constexpr int kScales = kCorrections + kBlocks * kVectorBytes;
  static constexpr int kGroupBytes = kScales + kBlocks * kVectorBytes;

  static FT_INLINE int64_t n_chunks(int64_t cols) { return (cols + kChunk - 1) / kChunk; }
  static FT_INLINE int64_t packed_bytes(int64_t cols) {
    return (n_chunks(cols) + kLanes - 1) / kLanes * kGroupBytes;
  }
  static FT_INLINE int64_t decoded_bytes(int64_t) { return 0; }
  static FT_INLINE void decode(const Tile&, uint8_t*) {}

  static FT_INLINE void pack(const float* x, int64_t cols, uint8_t* to) {
    const int64_t n_groups = (n_chunks(cols) + kLanes - 1) / kLanes;
    for (int64_t g = 0; g < n_groups; ++g, to += kGroupBytes) {
      for (int c = 0; c < kLanes; ++c) {
        const int lane = word_place(c);
        for (int b = 0; b < kBlocks; ++b) {
          const int64_t first = ((g * kLanes + c) * kBlocks + b) * F::kBlock;
          const bool is_there = first < cols;
          pack_block(is_there ? x + first : nullptr, b, to + 4 * lane);
        }
      }
    }
  }

  /// Block b of a chunk; `to`: the lane's first word. nullptr: behind the end of the row.
  static FT_INLINE void pack_block(const float* x, int b, uint8_t* to) {
    alignas(16) int8_t quants[F::kBlock] = {};
    float scale = 0;
    if (x != nullptr) quantise_block<F::kBlock>(x, quants, &scale);
    int32_t sum = 0;
    for (int i = 0; i < F::kBlock; ++i) sum += quants[i];
    const int32_t correction = -kCodeBias * sum;
    const __m128i order = _mm_setr_epi8(0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15);
    for (int i = 0; i < F::kBlock / 16; ++i) {  // sixteen quants are two words of codes
      const __m128i sixteen = _mm_load_si128(reinterpret_cast<const __m128i*>(quants) + i);
      alignas(16) uint32_t words[4];
      _mm_store_si128(reinterpret_cast<__m128i*>(words), _mm_shuffle_epi8(sixteen, order));
      uint8_t* out = to + (b * F::kBlock / 16 + i) * 4 * kVectorBytes;
      for (int k = 0; k < 4; ++k) __builtin_memcpy(out + k * kVectorBytes, words + k, 4);
    }
    __builtin_memcpy(to + kCorrections + b * kVectorBytes, &correction, 4);
    __builtin_memcpy(to + kScales + b * kVectorBytes, &scale, 4);
  }

  /// A group of kLanes chunks of one row of weights, decoded.
  struct Group {
    Ints codes[8];
    Floats scales[kBlocks];
  };
  static FT_INLINE Group load_group(const uint8_t* codes, const uint8_t* scales) {
    Group g;
    const ChunkWords words = load_words(codes);
    unroll<4>([&](auto k) FT_INLINE_LAMBDA {
      g.codes[2 * k] = low_e2m1(words.w[k]);
      g.codes[2 * k + 1] = high_e2m1(words.w[k]);
    });
    if constexpr (std::is_same_v<F, Mxfp4>) {
      g.scales[0] = e8m0_scales(scales);
    } else {
      const ScalePair pair = e4m3_scales(scales);
      g.scales[0] = pair.first;
      g.scales[1] = pair.second;
    }
    return g;
  }

  /// masks: lanes that have a block b, where not all have.
  template <bool kWhole>
  static FT_INLINE Floats add_group(const Group& g, const uint8_t* x, const Mask* masks,
                                    Floats partial) {
    constexpr int kOfBlock = 8 / kBlocks;  // vectors of codes
    unroll<kBlocks>([&](auto b) FT_INLINE_LAMBDA {
      Ints sum = load_ints(x + kCorrections + b * kVectorBytes);
      unroll<kOfBlock / 4>([&](auto i) FT_INLINE_LAMBDA {
        constexpr int kFirst = b * kOfBlock + i * 4;
        sum = add_ints(sum, products<4>(g.codes + kFirst, x + kFirst * kVectorBytes));
      });
      const auto* x_scales = reinterpret_cast<const float*>(x + kScales + b * kVectorBytes);
      const Floats scale = g.scales[b] * load_floats(x_scales);
      if constexpr (kWhole) {
        partial = fma32(scale, to_floats(sum), partial);
      } else {
        partial = fma_where(masks[b], scale, to_floats(sum), partial);
      }
    });
    return partial;
  }

  /// kRows: n_rows where it is known, else 0.
  template <int kRows>
  static FT_INLINE void multiply_some(const Tile& tile, float* sums) {
    const WeightView& w = tile.w;
    const uint8_t* codes = w.codes + tile.n * w.row_bytes;
    const uint8_t* scales = scale_row<F>(w, tile.n);
    const int n_rows = kRows > 0 ? kRows : tile.n_rows;
    Floats partial[kRows > 0 ? kRows : kTile][kVectors];
    for (int m = 0; m < n_rows; ++m) {
      for (int v = 0; v < kVectors; ++v) partial[m][v] = zero();
    }
    const int64_t n_whole = w.cols / kSegment;
    int64_t offset = 0;  // in packed rows
    for (int64_t s = 0; s < n_whole; ++s) {
      prefetch(codes, kPartials * kChunkBytes);
      unroll<kVectors>([&](auto v) FT_INLINE_LAMBDA {
        const Group g = load_group(codes, scales);
        for (int m = 0; m < n_rows; ++m)
          partial[m][v] = add_group<true>(g, tile.rows[m] + offset, nullptr, partial[m][v]);
        codes += kLanes * kChunkBytes;
        scales += kLanes * kBlocks;
        offset += kGroupBytes;
      });
    }
    int64_t left = w.cols - n_whole * kSegment;
    if (left > 0) prefetch(codes, kPartials * kChunkBytes);
    unroll<kVectors>([&](auto v) FT_INLINE_LAMBDA {
      if (left <= 0) return;
      const Group g = load_group(codes, scales);
      if (left >= kLanes * kChunk) {
        for (int m = 0; m < n_rows; ++m)
          partial[m][v] = add_group<true>(g, tile.rows[m] + offset, nullptr, partial[m][v]);
      } else {
        Mask masks[kBlocks];
        for (int b = 0; b < kBlocks; ++b)
          masks[b] = word_mask(lanes_with(left, b * F::kBlock, kChunk));
        for (int m = 0; m < n_rows; ++m)
          partial[m][v] = add_group<false>(g, tile.rows[m] + offset, masks, partial[m][v]);
      }
      codes += kLanes * kChunkBytes;
      scales += kLanes * kBlocks;
      offset += kGroupBytes;
      left -= kLanes * kChunk;
    });
    for (int m = 0; m < n_rows; ++m) sums[m] = fold_words(partial[m]) * (F::kRowFactor * w.factor);
  }

  static FT_INLINE void multiply(const Tile& tile, float (*sums)[kTile]) {
    if (tile.n_rows == 1) {
      multiply_some<1>(tile, sums[0]);
    } else {
      multiply_some<0>(tile, sums[0]);
    }
  }
};
