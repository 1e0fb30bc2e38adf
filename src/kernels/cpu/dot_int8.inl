// dot.inl's int8 partner in vectors. Four-bit codes become unsigned bytes by a table look-up and are
// multiplied with signed ones; what the bias of the codes adds is taken off again by a correction
// that belongs to the activations. dot_q8.inl has the codes of eight bits.

/// Twice an e2m1 number plus this is an unsigned byte.
constexpr int32_t kCodeBias = 12;

/// What VectorInt8Dot asks of a format's codes, here two e2m1 numbers a byte. A *piece* is what is
/// summed in whole numbers (kPieceOf).
template <typename F>
struct E2m1Codes {
  static constexpr int kPieces = F::kChunkValues / kPieceOf<F>;  // of a chunk
  static constexpr int kCodeVectors = 8;
  static constexpr int kVectorBytes = 4 * kLanes;
  // A packed row, for each group of kLanes chunks: its quants as low and high half bytes of word 0
  // meet them, then of word 1, ...; then the corrections and the scales of each piece.
  static constexpr int kCorrections = kCodeVectors * kVectorBytes;
  static constexpr int kScales = kCorrections + kPieces * kVectorBytes;
  static constexpr int kGroupBytes = kScales + kPieces * kVectorBytes;

  /// A group of kLanes chunks of one row of weights, decoded.
  struct Group {
    Ints codes[kCodeVectors];
    Floats scales[kPieces];
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

  /// What the sums of a piece begin with; `packed`: the group's part of a packed row.
  static FT_INLINE Ints first_sums(const uint8_t* packed, int piece) {
    return load_ints(packed + kCorrections + piece * kVectorBytes);
  }
  /// Adds the products of four vectors of codes.
  static FT_INLINE Ints add(Ints sums, const Ints* codes, const uint8_t* quants) {
    return add_products(sums, codes, quants);
  }

  /// A group of activations, of which `left` values are there.
  static FT_INLINE void pack_group(const float* x, int64_t left, uint8_t* to) {
    for (int c = 0; c < kLanes; ++c) {
      for (int b = 0; b < kPieces; ++b) {
        const int first = (c * kPieces + b) * F::kBlock;
        pack_block(first < left ? x + first : nullptr, b, to + 4 * word_place(c));
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
};

template <typename F, typename Codes>
struct VectorInt8Dot {
  static constexpr int kTile = 4;  // rows of activations that share a decoded group in registers
  static constexpr int kWeights = 16;
  static constexpr int kRows = 64;
  static constexpr Decoding kDecoding = Decoding::kForMany;
  static constexpr int kChunk = F::kChunkValues;
  static constexpr int kSegment = kSegmentOf<F>;
  static constexpr int kPieces = Codes::kPieces;  // of a chunk
  static constexpr int kVectorBytes = Codes::kVectorBytes;
  static constexpr int kGroupBytes = Codes::kGroupBytes;  // of a packed row
  static constexpr int kGroupScaleBytes = kLanes * kChunk / F::kBlock * F::kScaleBytes;
  using Group = typename Codes::Group;

  static FT_INLINE int64_t n_chunks(int64_t cols) { return (cols + kChunk - 1) / kChunk; }
  static FT_INLINE int64_t packed_bytes(int64_t cols) { return n_groups(cols) * kGroupBytes; }
  static FT_INLINE int64_t n_groups(int64_t cols) { return (n_chunks(cols) + kLanes - 1) / kLanes; }
  static FT_INLINE int64_t decoded_bytes(int64_t cols) {
    return kWeights * n_groups(cols) * static_cast<int64_t>(sizeof(Group));
  }

  static FT_INLINE void pack(const float* x, int64_t cols, uint8_t* to) {
    for (int64_t g = 0; g < n_groups(cols); ++g) {
      const int64_t first = g * kLanes * kChunk;
      Codes::pack_group(x + first, cols - first, to + g * kGroupBytes);
    }
  }

  static FT_INLINE void decode(const Tile& tile, uint8_t* to) {
    const WeightView& w = tile.w;
    auto* groups = reinterpret_cast<Group*>(to);
    for (int i = 0; i < tile.n_weights; ++i) {
      const uint8_t* codes = w.codes + (tile.n + i) * w.row_bytes;
      const uint8_t* scales = scale_row<F>(w, tile.n + i);
      for (int64_t g = 0; g < n_groups(w.cols); ++g) {
        *groups++ =
            Codes::load_group(codes + g * kLanes * kChunkBytes, scales + g * kGroupScaleBytes);
      }
    }
  }

  /// Adds a group times the same group of kRowCount rows of activations, `offset` bytes into them.
  /// left: values of the row from here on.
  template <int kRowCount, bool kWhole>
  static FT_INLINE void add_group(const Group& g, const uint8_t* const* rows, int64_t offset,
                                  int64_t left, Floats* partial) {
    constexpr int kOfPiece = Codes::kCodeVectors / kPieces;  // vectors of codes
    const uint8_t* at[kRowCount];
    unroll<kRowCount>([&](auto m) FT_INLINE_LAMBDA { at[m] = in_register(rows[m] + offset); });
    unroll<kPieces>([&](auto b) FT_INLINE_LAMBDA {
      Ints sums[kRowCount];
      unroll<kRowCount>([&](auto m) FT_INLINE_LAMBDA { sums[m] = Codes::first_sums(at[m], b); });
      unroll<kOfPiece / 4>([&](auto i) FT_INLINE_LAMBDA {
        constexpr int kFirst = b * kOfPiece + i * 4;
        unroll<kRowCount>([&](auto m) FT_INLINE_LAMBDA {
          sums[m] = Codes::add(sums[m], g.codes + kFirst, at[m] + kFirst * kVectorBytes);
        });
      });
      unroll<kRowCount>([&](auto m) FT_INLINE_LAMBDA {
        const auto* x_scales =
            reinterpret_cast<const float*>(at[m] + Codes::kScales + b * kVectorBytes);
        const Floats scale = g.scales[b] * load_floats(x_scales);
        if constexpr (kWhole) {
          partial[m] = fma32(scale, to_floats(sums[m]), partial[m]);
        } else {
          const Mask mask = word_mask(lanes_with(left, b * kPieceOf<F>, kChunk));
          partial[m] = fma_where(mask, scale, to_floats(sums[m]), partial[m]);
        }
      });
    });
  }

  /// One row of weights times kRowCount rows of activations; group_at(g): decoded.
  template <int kRowCount, typename GroupAt>
  static FT_INLINE void multiply_row(const WeightView& w, const uint8_t* const* rows,
                                     GroupAt group_at, float* sums) {
    Floats partial[kVectors][kRowCount];
    for (int v = 0; v < kVectors; ++v) {
      for (int m = 0; m < kRowCount; ++m) partial[v][m] = zero();
    }
    const int64_t n_whole = w.cols / kSegment * kVectors;
    for (int64_t g = 0; g < n_whole; g += kVectors) {
      unroll<kVectors>([&](auto v) FT_INLINE_LAMBDA {
        add_group<kRowCount, true>(group_at(g + v), rows, (g + v) * kGroupBytes, 0, partial[v]);
      });
    }
    unroll<kVectors>([&](auto v) FT_INLINE_LAMBDA {
      const int64_t g = n_whole + v;
      const int64_t left = w.cols - g * kLanes * kChunk;
      if (left >= kLanes * kChunk) {
        add_group<kRowCount, true>(group_at(g), rows, g * kGroupBytes, left, partial[v]);
      } else if (left > 0) {
        add_group<kRowCount, false>(group_at(g), rows, g * kGroupBytes, left, partial[v]);
      }
    });
    const float factor = F::kRowFactor * w.factor;
    Floats totals[kRowCount];
    unroll<kRowCount>([&](auto m) FT_INLINE_LAMBDA {
      Floats all[kVectors];
      for (int v = 0; v < kVectors; ++v) all[v] = partial[v][m];
      totals[m] = sum_words(all);
    });
    if constexpr (kRowCount == kTile) {
      _mm_storeu_ps(sums, fold_lanes(totals) * _mm_set1_ps(factor));
    } else {
      for (int m = 0; m < kRowCount; ++m) sums[m] = fold_lanes(totals[m]) * factor;
    }
  }

  static FT_INLINE float dot(const WeightView& w, int64_t n, const uint8_t* row) {
    const uint8_t* codes = w.codes + n * w.row_bytes;
    const uint8_t* scales = scale_row<F>(w, n);
    float sum = 0;
    multiply_row<1>(
        w, &row,
        [&](int64_t g) FT_INLINE_LAMBDA {
          const uint8_t* group = codes + g * kLanes * kChunkBytes;
          prefetch(group, kLanes * kChunkBytes);
          return Codes::load_group(group, scales + g * kGroupScaleBytes);
        },
        &sum);
    return sum;
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
    // A few rows of activations, which stay in the first-level cache, times all decoded weights.
    for (int first = 0; first < tile.n_rows; first += kTile) {
      const uint8_t* rows[kTile];
      for (int m = 0; m < kTile; ++m)
        rows[m] = tile.rows[first + m < tile.n_rows ? first + m : first];
      const auto* groups = reinterpret_cast<const Group*>(tile.decoded);
      for (int i = 0; i < tile.n_weights; ++i, groups += n_groups(w.cols)) {
        float of_weight[kTile];
        multiply_row<kTile>(
            w, rows, [&](int64_t g) FT_INLINE_LAMBDA -> const Group& { return groups[g]; },
            of_weight);
        for (int m = 0; m < kTile; ++m) sums[(first + m) * kWeights + i] = of_weight[m];
      }
    }
  }
};
