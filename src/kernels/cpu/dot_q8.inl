// The codes of q8 for VectorInt8Dot. They are signed, as large as the activations' quants. VNNI reads
// them unsigned, with a bias that a correction takes off again, as for four-bit codes. Without it, two
// products of biased codes would not fit into the 16 bits that they are summed in: magnitudes are
// multiplied with quants that take over the signs (2 * 127 * 127 fits).
struct Q8Codes {
  static constexpr int kPieces = 1;
  static constexpr int kCodeVectors = 4;
  static constexpr int kVectorBytes = 4 * kLanes;
  static constexpr int kHalf = Q8::kChunkValues;  // a block spans two chunks
  // A packed row, for each group of kLanes chunks: its quants word by word, the corrections of chunks
  // where there are some, and the scales of their blocks.
  static constexpr int kCorrections = kCodeVectors * kVectorBytes;
  static constexpr int kScales = kCorrections + (kHasVnni ? kVectorBytes : 0);
  static constexpr int kGroupBytes = kScales + kVectorBytes;

  struct Group {
    Ints codes[kCodeVectors];
    Floats scales[kPieces];
  };
  static FT_INLINE Group load_group(const uint8_t* codes, const uint8_t* scales) {
    Group g;
    const ChunkWords words = load_words(codes);
    unroll<kCodeVectors>([&](auto k) FT_INLINE_LAMBDA {
      g.codes[k] = kHasVnni ? add_byte_bias(words.w[k]) : words.w[k];
    });
    g.scales[0] = shared_f16_scales(scales);
    return g;
  }

  static FT_INLINE Ints first_sums(const uint8_t* packed, int) {
    return kHasVnni ? load_ints(packed + kCorrections) : Ints{};
  }
  static FT_INLINE Ints add(Ints sums, const Ints* codes, const uint8_t* quants) {
    return kHasVnni ? add_products(sums, codes, quants) : add_signed_products(sums, codes, quants);
  }

  static FT_INLINE void pack_group(const float* x, int64_t left, uint8_t* to) {
    for (int c = 0; c < kLanes; c += 2) {
      int8_t quants[Q8::kBlock] = {};
      float scale = 0;
      if (c * kHalf < left) quantise_block<Q8::kBlock>(x + c * kHalf, quants, &scale);
      pack_half(quants, scale, to + 4 * word_place(c));
      pack_half(quants + kHalf, scale, to + 4 * word_place(c + 1));
    }
  }

  /// `to`: the lane's first word.
  static FT_INLINE void pack_half(const int8_t* quants, float scale, uint8_t* to) {
    for (int k = 0; k < kCodeVectors; ++k)
      __builtin_memcpy(to + k * kVectorBytes, quants + 4 * k, 4);
    __builtin_memcpy(to + kScales, &scale, 4);
    if constexpr (kHasVnni) {
      int32_t sum = 0;
      for (int i = 0; i < kHalf; ++i) sum += quants[i];
      const int32_t correction = -128 * sum;
      __builtin_memcpy(to + kCorrections, &correction, 4);
    }
  }
};
