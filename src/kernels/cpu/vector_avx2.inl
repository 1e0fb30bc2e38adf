// The vocabulary of the vector kernels in AVX2, FMA and F16C. The kernels read weights 16 bytes (a
// chunk) a lane: the rows of registers that a load gives are transposed, so that a register holds
// the same part of different chunks. This leaves the lanes out of order: word_place() and
// half_place() say where a chunk's partial lies; activations are packed in that order, and folding
// knows it.

using Ints = __m256i;
using Mask = __m256i;
constexpr int kVectors = kPartials / kLanes;

FT_INLINE Floats zero() {
  return _mm256_setzero_ps();
}
FT_INLINE Ints load_ints(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
FT_INLINE void store_ints(void* to, Ints x) {
  _mm256_storeu_si256(static_cast<__m256i*>(to), x);
}
/// fma32() in the lanes of the mask, c in the others.
FT_INLINE Floats fma_where(Mask mask, Floats a, Floats b, Floats c) {
  return _mm256_blendv_ps(c, _mm256_fmadd_ps(a, b, c), _mm256_castsi256_ps(mask));
}
FT_INLINE Floats to_floats(Ints x) {
  return _mm256_cvtepi32_ps(x);
}

/// ChunkWords 0 to 3 of kLanes chunks.
struct ChunkWords {
  Ints w[4];
};

/// Where a chunk of a segment lies among the 32 lanes of its kVectors ChunkWords.
FT_INLINE constexpr int word_place(int chunk) {
  return chunk / kLanes * kLanes + chunk % (kLanes / 4) * 4 + chunk % kLanes / (kLanes / 4);
}

FT_INLINE ChunkWords load_words(const uint8_t* from) {
  const Ints a = load_ints(from);
  const Ints b = load_ints(from + 32);
  const Ints c = load_ints(from + 64);
  const Ints d = load_ints(from + 96);
  const Ints ab0 = _mm256_unpacklo_epi32(a, b);
  const Ints ab1 = _mm256_unpackhi_epi32(a, b);
  const Ints cd0 = _mm256_unpacklo_epi32(c, d);
  const Ints cd1 = _mm256_unpackhi_epi32(c, d);
  return {{_mm256_unpacklo_epi64(ab0, cd0), _mm256_unpackhi_epi64(ab0, cd0),
           _mm256_unpacklo_epi64(ab1, cd1), _mm256_unpackhi_epi64(ab1, cd1)}};
}

/// Lanes of ChunkWords whose chunk is one of the first n of their group.
FT_INLINE Mask word_mask(int64_t n) {
  const Ints chunks = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), chunks);
}

/// The 32 partials in the order of ChunkWords, group by group, folded into one vector. fold_lanes()
/// does the rest: 16, 8, 4, 2, 1 in all.
FT_INLINE Floats sum_words(const Floats* p) {
  return (p[0] + p[2]) + (p[1] + p[3]);
}
FT_INLINE float fold_lanes(Floats sum) {
  sum = sum + _mm256_permute_ps(sum, 0x4E);
  sum = sum + _mm256_permute_ps(sum, 0xB1);
  return _mm_cvtss_f32(_mm_add_ss(_mm256_castps256_ps128(sum), _mm256_extractf128_ps(sum, 1)));
}
FT_INLINE Floats fold_pair(Floats a, Floats b) {
  const __m256d x = _mm256_castps_pd(a);
  const __m256d y = _mm256_castps_pd(b);
  return _mm256_castpd_ps(_mm256_unpacklo_pd(x, y)) + _mm256_castpd_ps(_mm256_unpackhi_pd(x, y));
}
/// The same for four at once, in half the steps.
FT_INLINE __m128 fold_lanes(const Floats* sums) {
  const Floats a = fold_pair(sums[0], sums[1]);
  const Floats b = fold_pair(sums[2], sums[3]);
  const Floats four = _mm256_shuffle_ps(a, b, 0x88) + _mm256_shuffle_ps(a, b, 0xDD);
  return _mm256_castps256_ps128(four) + _mm256_extractf128_ps(four, 1);
}

/// ChunkHalves 0 to 7 of 2 * kLanes chunks.
struct ChunkHalves {
  Ints h[8];
};

/// Where a chunk of a segment lies among the 32 lanes of the floats that its ChunkHalves become: a group
/// gives two vectors, its sides.
FT_INLINE constexpr int half_place(int chunk) {
  return chunk / (2 * kLanes) * 2 * kLanes + chunk % 2 * kLanes + chunk % (2 * kLanes) / 2;
}

FT_INLINE ChunkHalves load_halves(const uint8_t* from) {
  Ints r[8];
  for (int i = 0; i < 8; ++i) r[i] = load_ints(from + 32 * i);
  Ints pairs[8];
  for (int i = 0; i < 4; ++i) {
    pairs[2 * i] = _mm256_unpacklo_epi16(r[2 * i], r[2 * i + 1]);
    pairs[2 * i + 1] = _mm256_unpackhi_epi16(r[2 * i], r[2 * i + 1]);
  }
  Ints fours[8];
  for (int i = 0; i < 2; ++i) {
    for (int k = 0; k < 2; ++k) {
      fours[4 * i + 2 * k] = _mm256_unpacklo_epi32(pairs[4 * i + k], pairs[4 * i + 2 + k]);
      fours[4 * i + 2 * k + 1] = _mm256_unpackhi_epi32(pairs[4 * i + k], pairs[4 * i + 2 + k]);
    }
  }
  ChunkHalves halves;
  for (int k = 0; k < 4; ++k) {
    halves.h[2 * k] = _mm256_unpacklo_epi64(fours[k], fours[4 + k]);
    halves.h[2 * k + 1] = _mm256_unpackhi_epi64(fours[k], fours[4 + k]);
  }
  return halves;
}

/// float16 to float32, those of one side.
template <int kSide>
FT_INLINE Floats floats_of(Ints halves) {
  return _mm256_cvtph_ps(_mm256_extracti128_si256(halves, kSide));
}

/// Lanes of one side whose chunk is one of the first n of their group.
template <int kSide>
FT_INLINE Mask half_mask(int64_t n) {
  const Ints chunks = _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n) - kSide), chunks);
}

/// The 32 partials as the sides of groups of halves, folded into one vector for fold_lanes().
FT_INLINE Floats sum_halves(const Floats* p) {
  const Floats first = p[0] + p[2];
  const Floats second = p[1] + p[3];
  return _mm256_permute2f128_ps(first, second, 0x20) + _mm256_permute2f128_ps(first, second, 0x31);
}

/// One scale for each 8 chunks of a group of halves, those of chunks 0 and 8.
FT_INLINE Floats spread_tile_scales(const uint8_t* scales) {
  const __m128 two = _mm_castpd_ps(_mm_load_sd(reinterpret_cast<const double*>(scales)));
  return _mm256_permutevar8x32_ps(_mm256_castps128_ps256(two),
                                  _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1));
}

// --- words as numbers ---

/// bfloat16 in the low and high half of each word.
FT_INLINE Floats low_bf16(Ints w) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(w, 16));
}
FT_INLINE Floats high_bf16(Ints w) {
  return _mm256_castsi256_ps(_mm256_and_si256(w, _mm256_set1_epi32(-65536)));
}
FT_INLINE Floats as_floats(Ints w) {
  return _mm256_castsi256_ps(w);
}

/// e4m3 in the low and high byte of each half, as float16 of 2^-8 the value.
FT_INLINE Ints low_e4m3(Ints h) {
  return _mm256_and_si256(_mm256_srai_epi16(_mm256_slli_epi16(h, 8), 1),
                          _mm256_set1_epi16(static_cast<int16_t>(0xBF80)));
}
FT_INLINE Ints high_e4m3(Ints h) {
  return _mm256_and_si256(_mm256_srai_epi16(h, 1), _mm256_set1_epi16(static_cast<int16_t>(0xBF80)));
}

/// Twelve more than twice the e2m1 number, for the low and high half of each byte.
FT_INLINE Ints e2m1_codes(Ints nibbles) {
  const Ints table = _mm256_setr_epi8(12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0, 12,
                                      13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0);
  return _mm256_shuffle_epi8(table, _mm256_and_si256(nibbles, _mm256_set1_epi8(15)));
}
FT_INLINE Ints low_e2m1(Ints w) {
  return e2m1_codes(w);
}
FT_INLINE Ints high_e2m1(Ints w) {
  return e2m1_codes(_mm256_srli_epi16(w, 4));
}

/// Adds the products of four vectors of codes (at most 24) with as many of signed bytes, four to a
/// word. Without VNNI pairs are summed in 16 bits first, where four of them have room.
FT_INLINE Ints add_products(Ints sum, const Ints* codes, const uint8_t* x) {
  constexpr int kBytes = 4 * kLanes;
  if constexpr (kHasVnni) {
    for (int i = 0; i < 4; ++i)
      sum = _mm256_dpbusd_avx_epi32(sum, codes[i], load_ints(x + kBytes * i));
    return sum;
  } else {
    Ints pairs = _mm256_maddubs_epi16(codes[0], load_ints(x));
    for (int i = 1; i < 4; ++i) {
      pairs = _mm256_add_epi16(pairs, _mm256_maddubs_epi16(codes[i], load_ints(x + kBytes * i)));
    }
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
}

/// Signed bytes as unsigned ones that are 128 larger.
FT_INLINE Ints add_byte_bias(Ints codes) {
  return _mm256_xor_si256(codes, _mm256_set1_epi8(-128));
}

/// add_products() of signed codes from -127 to 127, in the form that needs no VNNI.
FT_INLINE Ints add_signed_products(Ints sum, const Ints* codes, const uint8_t* x) {
  constexpr int kBytes = 4 * kLanes;
  for (int i = 0; i < 4; ++i) {
    const Ints quants = _mm256_sign_epi8(load_ints(x + kBytes * i), codes[i]);
    const Ints pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(codes[i]), quants);
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
  return sum;
}

/// e8m0 scales of kLanes chunks, one each.
FT_INLINE Floats e8m0_scales(const uint8_t* scales) {
  const __m128i order = _mm_setr_epi8(0, 2, 4, 6, 1, 3, 5, 7, -1, -1, -1, -1, -1, -1, -1, -1);
  const __m128i bytes =
      _mm_shuffle_epi8(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(scales)), order);
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu8_epi32(bytes), 23));
}

/// e4m3 scales of kLanes chunks, two each, 2^-8 the value.
struct ScalePair {
  Floats first, second;
};
FT_INLINE ScalePair e4m3_scales(const uint8_t* scales) {
  const __m128i order = _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
  const __m128i pairs =
      _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(scales)), order);
  const __m128i first = _mm_slli_epi16(_mm_and_si128(pairs, _mm_set1_epi16(0xFF)), 7);
  const __m128i second = _mm_slli_epi16(_mm_srli_epi16(pairs, 8), 7);
  return {_mm256_cvtph_ps(first), _mm256_cvtph_ps(second)};
}

/// float16 scales of kLanes chunks, one for each two.
FT_INLINE Floats shared_f16_scales(const uint8_t* scales) {
  return _mm256_cvtph_ps(_mm_set1_epi64x(load<int64_t>(scales)));
}
