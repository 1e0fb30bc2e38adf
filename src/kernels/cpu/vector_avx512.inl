// The vocabulary of the vector kernels in AVX-512 F, BW, VL, DQ. What the functions mean stands in
// vector_avx2.inl.

using Ints = __m512i;
using Mask = __mmask16;
constexpr int kVectors = kPartials / kLanes;

FT_INLINE Floats zero() {
  return _mm512_setzero_ps();
}
FT_INLINE Ints load_ints(const void* from) {
  return _mm512_loadu_si512(from);
}
FT_INLINE void store_ints(void* to, Ints x) {
  _mm512_storeu_si512(to, x);
}
/// fma32() in the lanes of the mask, c in the others.
FT_INLINE Floats fma_where(Mask mask, Floats a, Floats b, Floats c) {
  return _mm512_mask3_fmadd_ps(a, b, c, mask);
}
FT_INLINE Floats to_floats(Ints x) {
  return _mm512_cvtepi32_ps(x);
}

struct ChunkWords {
  Ints w[4];
};

FT_INLINE constexpr int word_place(int chunk) {
  return chunk / kLanes * kLanes + chunk % (kLanes / 4) * 4 + chunk % kLanes / (kLanes / 4);
}

FT_INLINE ChunkWords load_words(const uint8_t* from) {
  const Ints a = load_ints(from);
  const Ints b = load_ints(from + 64);
  const Ints c = load_ints(from + 128);
  const Ints d = load_ints(from + 192);
  const Ints ab0 = _mm512_unpacklo_epi32(a, b);
  const Ints ab1 = _mm512_unpackhi_epi32(a, b);
  const Ints cd0 = _mm512_unpacklo_epi32(c, d);
  const Ints cd1 = _mm512_unpackhi_epi32(c, d);
  return {{_mm512_unpacklo_epi64(ab0, cd0), _mm512_unpackhi_epi64(ab0, cd0),
           _mm512_unpacklo_epi64(ab1, cd1), _mm512_unpackhi_epi64(ab1, cd1)}};
}

FT_INLINE Mask word_mask(int64_t n) {
  const Ints chunks = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return _mm512_cmplt_epi32_mask(chunks, _mm512_set1_epi32(static_cast<int>(n)));
}

/// The upper half of the lanes, then the upper half of these.
FT_INLINE __m256 upper(Floats x) {
  return _mm512_extractf32x8_ps(x, 1);
}
FT_INLINE __m256 lower(Floats x) {
  return _mm512_castps512_ps256(x);
}

FT_INLINE Floats sum_words(const Floats* p) {
  return p[0] + p[1];
}
FT_INLINE __m128 fold_quarters(Floats sum) {
  const __m256 eight = lower(sum) + upper(sum);
  return _mm256_castps256_ps128(eight) + _mm256_extractf128_ps(eight, 1);
}
FT_INLINE float fold_lanes(Floats sum) {
  sum = sum + _mm512_permute_ps(sum, 0x4E);
  sum = sum + _mm512_permute_ps(sum, 0xB1);
  return _mm_cvtss_f32(fold_quarters(sum));
}
FT_INLINE Floats fold_pair(Floats a, Floats b) {
  const __m512d x = _mm512_castps_pd(a);
  const __m512d y = _mm512_castps_pd(b);
  return _mm512_castpd_ps(_mm512_unpacklo_pd(x, y)) + _mm512_castpd_ps(_mm512_unpackhi_pd(x, y));
}
FT_INLINE __m128 fold_lanes(const Floats* sums) {
  const Floats a = fold_pair(sums[0], sums[1]);
  const Floats b = fold_pair(sums[2], sums[3]);
  return fold_quarters(_mm512_shuffle_ps(a, b, 0x88) + _mm512_shuffle_ps(a, b, 0xDD));
}

struct ChunkHalves {
  Ints h[8];
};

FT_INLINE constexpr int half_place(int chunk) {
  return chunk % 4 / 2 * kLanes + chunk % 2 * 8 + chunk / 4;
}

FT_INLINE ChunkHalves load_halves(const uint8_t* from) {
  Ints r[8];
  for (int i = 0; i < 8; ++i) r[i] = load_ints(from + 64 * i);
  Ints pairs[8];
  for (int i = 0; i < 4; ++i) {
    pairs[2 * i] = _mm512_unpacklo_epi16(r[2 * i], r[2 * i + 1]);
    pairs[2 * i + 1] = _mm512_unpackhi_epi16(r[2 * i], r[2 * i + 1]);
  }
  Ints fours[8];
  for (int i = 0; i < 2; ++i) {
    for (int k = 0; k < 2; ++k) {
      fours[4 * i + 2 * k] = _mm512_unpacklo_epi32(pairs[4 * i + k], pairs[4 * i + 2 + k]);
      fours[4 * i + 2 * k + 1] = _mm512_unpackhi_epi32(pairs[4 * i + k], pairs[4 * i + 2 + k]);
    }
  }
  ChunkHalves halves;
  for (int k = 0; k < 4; ++k) {
    halves.h[2 * k] = _mm512_unpacklo_epi64(fours[k], fours[4 + k]);
    halves.h[2 * k + 1] = _mm512_unpackhi_epi64(fours[k], fours[4 + k]);
  }
  return halves;
}

template <int kSide>
FT_INLINE Floats floats_of(Ints halves) {
  return _mm512_cvtph_ps(_mm512_extracti64x4_epi64(halves, kSide));
}

template <int kSide>
FT_INLINE Mask half_mask(int64_t n) {
  const Ints chunks = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29);
  return _mm512_cmplt_epi32_mask(chunks, _mm512_set1_epi32(static_cast<int>(n) - 2 * kSide));
}

FT_INLINE Floats sum_halves(const Floats* p) {
  return _mm512_shuffle_f32x4(p[0], p[1], 0x88) + _mm512_shuffle_f32x4(p[0], p[1], 0xDD);
}

FT_INLINE Floats spread_tile_scales(const uint8_t* scales) {
  const __m128 four = _mm_loadu_ps(reinterpret_cast<const float*>(scales));
  return _mm512_permutexvar_ps(_mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 0, 0, 1, 1, 2, 2, 3, 3),
                               _mm512_castps128_ps512(four));
}

FT_INLINE Floats low_bf16(Ints w) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(w, 16));
}
FT_INLINE Floats high_bf16(Ints w) {
  return _mm512_castsi512_ps(_mm512_and_si512(w, _mm512_set1_epi32(-65536)));
}
FT_INLINE Floats as_floats(Ints w) {
  return _mm512_castsi512_ps(w);
}

FT_INLINE Ints low_e4m3(Ints h) {
  return _mm512_and_si512(_mm512_srai_epi16(_mm512_slli_epi16(h, 8), 1),
                          _mm512_set1_epi16(static_cast<int16_t>(0xBF80)));
}
FT_INLINE Ints high_e4m3(Ints h) {
  return _mm512_and_si512(_mm512_srai_epi16(h, 1), _mm512_set1_epi16(static_cast<int16_t>(0xBF80)));
}

FT_INLINE Ints e2m1_codes(Ints nibbles) {
  const Ints table = _mm512_broadcast_i32x4(
      _mm_setr_epi8(12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0));
  return _mm512_shuffle_epi8(table, _mm512_and_si512(nibbles, _mm512_set1_epi8(15)));
}
FT_INLINE Ints low_e2m1(Ints w) {
  return e2m1_codes(w);
}
FT_INLINE Ints high_e2m1(Ints w) {
  return e2m1_codes(_mm512_srli_epi16(w, 4));
}

FT_INLINE Ints add_products(Ints sum, const Ints* codes, const uint8_t* x) {
  constexpr int kBytes = 4 * kLanes;
  if constexpr (kHasVnni) {
    for (int i = 0; i < 4; ++i) sum = _mm512_dpbusd_epi32(sum, codes[i], load_ints(x + kBytes * i));
    return sum;
  } else {
    Ints pairs = _mm512_maddubs_epi16(codes[0], load_ints(x));
    for (int i = 1; i < 4; ++i) {
      pairs = _mm512_add_epi16(pairs, _mm512_maddubs_epi16(codes[i], load_ints(x + kBytes * i)));
    }
    return _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
  }
}

FT_INLINE Ints add_byte_bias(Ints codes) {
  return _mm512_xor_si512(codes, _mm512_set1_epi8(-128));
}

FT_INLINE Ints add_signed_products(Ints sum, const Ints* codes, const uint8_t* x) {
  constexpr int kBytes = 4 * kLanes;
  for (int i = 0; i < 4; ++i) {
    const Ints plain = load_ints(x + kBytes * i);
    const Ints quants =
        _mm512_mask_sub_epi8(plain, _mm512_movepi8_mask(codes[i]), _mm512_setzero_si512(), plain);
    const Ints pairs = _mm512_maddubs_epi16(_mm512_abs_epi8(codes[i]), quants);
    sum = _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
  }
  return sum;
}

FT_INLINE Floats e8m0_scales(const uint8_t* scales) {
  const __m128i order = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m128i bytes =
      _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(scales)), order);
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu8_epi32(bytes), 23));
}

struct ScalePair {
  Floats first, second;
};
FT_INLINE ScalePair e4m3_scales(const uint8_t* scales) {
  const __m256i order = _mm256_setr_epi16(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m256i pairs =
      _mm256_permutexvar_epi16(order, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(scales)));
  const __m256i first = _mm256_slli_epi16(_mm256_and_si256(pairs, _mm256_set1_epi16(0xFF)), 7);
  const __m256i second = _mm256_slli_epi16(_mm256_srli_epi16(pairs, 8), 7);
  return {_mm512_cvtph_ps(first), _mm512_cvtph_ps(second)};
}

FT_INLINE Floats shared_f16_scales(const uint8_t* scales) {
  const __m256i order = _mm256_setr_epi16(0, 2, 4, 6, 0, 2, 4, 6, 1, 3, 5, 7, 1, 3, 5, 7);
  const __m128i eight = _mm_loadu_si128(reinterpret_cast<const __m128i*>(scales));
  return _mm512_cvtph_ps(_mm256_permutexvar_epi16(order, _mm256_castsi128_si256(eight)));
}
