// Vectors of this unit's width, and a panel's sixteen lanes in them. Arithmetic, comparisons and
// shifts are the compilers' own (vector_size); here is what they have no operator for.

#if defined(__AVX512F__)
constexpr int kLanes = 16;
#elif defined(__AVX2__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif
constexpr int kPanelVectors = kPanelLanes / kLanes;  // in a panel's step

using Floats __attribute__((vector_size(4 * kLanes))) = float;
using Words __attribute__((vector_size(4 * kLanes))) = uint32_t;
using Halves __attribute__((vector_size(2 * kLanes))) = uint16_t;

FT_INLINE Floats load_floats(const void* from) {
  return load<Floats>(from);
}

FT_INLINE void store_floats(float* to, Floats values) {
  __builtin_memcpy(to, &values, sizeof(values));
}

FT_INLINE Floats splat(float x) {
#if defined(__AVX512F__)
  return _mm512_set1_ps(x);
#elif defined(__AVX2__)
  return _mm256_set1_ps(x);
#else
  return Floats{x, x, x, x};
#endif
}

/// Loaded once: without this GCC reads a value that is used three times from memory three times.
FT_INLINE Floats in_register(Floats x) {
#if defined(__AVX512F__)
  asm("" : "+v"(x));
#elif defined(__AVX2__)
  asm("" : "+x"(x));
#endif
  return x;
}

/// The same for an address: what lies behind it is reached by a displacement, where GCC would compute
/// each address before the loop, run out of registers and read them back.
FT_INLINE const uint8_t* in_register(const uint8_t* at) {
  asm("" : "+r"(at));
  return at;
}

FT_INLINE Floats greater(Floats a, Floats b) {
  return a > b ? a : b;
}

FT_INLINE Floats fma32(Floats a, Floats b, Floats c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_ps(a, b, c);
#elif defined(__AVX2__)
  return _mm256_fmadd_ps(a, b, c);
#else
  Floats sum = c;
  for (int l = 0; l < kLanes; ++l) sum[l] = fma32(a[l], b[l], c[l]);
  return sum;
#endif
}

/// exp32() of each lane: the same steps, so the same bits.
FT_INLINE Floats exp32(Floats x) {
  const Floats round = splat(12582912.0f);
  const Floats low = splat(-87.0f);
  const Floats high = splat(87.0f);
  const Floats a = x < low ? low : (x > high ? high : x);
  const Floats t = fma32(a, splat(1.44269504088896f), round);
  const Floats n = t - round;
  Floats r = fma32(n, splat(-0.693359375f), a);
  r = fma32(n, splat(2.12194440e-4f), r);
  Floats p = splat(1.98412698e-4f);
  p = fma32(p, r, splat(1.38888889e-3f));
  p = fma32(p, r, splat(8.33333333e-3f));
  p = fma32(p, r, splat(4.16666667e-2f));
  p = fma32(p, r, splat(1.66666667e-1f));
  p = fma32(p, r, splat(0.5f));
  p = fma32(p, r, splat(1.0f));
  p = fma32(p, r, splat(1.0f));
  return std::bit_cast<Floats>(std::bit_cast<Words>(p) + (std::bit_cast<Words>(t) << 23));
}

/// (The masked form, because GCC 12 warns falsely about the plain one.)
FT_INLINE Floats widen(Halves halves) {
#if defined(__AVX512F__)
  return _mm512_maskz_cvtph_ps(0xFFFF, std::bit_cast<__m256i>(halves));
#elif defined(__AVX2__)
  return _mm256_cvtph_ps(std::bit_cast<__m128i>(halves));
#else
  return Floats{f16_to_f32(halves[0]), f16_to_f32(halves[1]), f16_to_f32(halves[2]),
                f16_to_f32(halves[3])};
#endif
}
