// Scalar arithmetic that every kernel shares: spelled out in fused multiply-adds, so that it has
// one result everywhere. Included inside the namespace of an instruction-set unit.

FT_INLINE float fma32(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}

/// exp(x) for x clamped to [-87, 87], relative error below 2e-7. Adding 1.5 * 2^23 rounds to an
/// integer n; two steps remove n ln 2; a polynomial of degree 7 gives the rest; n is added to the
/// exponent as an integer.
FT_INLINE float exp32(float x) {
  constexpr float kRound = 12582912.0f;
  const float a = x < -87.0f ? -87.0f : (x > 87.0f ? 87.0f : x);
  const float t = fma32(a, 1.44269504088896f, kRound);
  const float n = t - kRound;
  float r = fma32(n, -0.693359375f, a);
  r = fma32(n, 2.12194440e-4f, r);
  float p = 1.98412698e-4f;
  p = fma32(p, r, 1.38888889e-3f);
  p = fma32(p, r, 8.33333333e-3f);
  p = fma32(p, r, 4.16666667e-2f);
  p = fma32(p, r, 1.66666667e-1f);
  p = fma32(p, r, 0.5f);
  p = fma32(p, r, 1.0f);
  p = fma32(p, r, 1.0f);
  return std::bit_cast<float>(std::bit_cast<uint32_t>(p) + (std::bit_cast<uint32_t>(t) << 23));
}

FT_INLINE float sigmoid32(float x) {
  return 1.0f / (1.0f + exp32(-x));
}

FT_INLINE float silu32(float x) {
  return x / (1.0f + exp32(-x));
}

FT_INLINE float gate32(const GateSpec& spec, float gate, float up) {
  if (spec.activation == Activation::kSilu) return silu32(gate) * up;
  const float g = gate > spec.limit ? spec.limit : gate;
  const float u = up > spec.limit ? spec.limit : (up < -spec.limit ? -spec.limit : up);
  return g * sigmoid32(spec.alpha * g) * (u + 1.0f);
}

/// gate[i] = gate32(gate[i], up[i])
FT_INLINE void gate_values(const GateSpec& spec, float* gate, const float* up, int64_t n) {
  if (spec.activation == Activation::kSilu) {
    for (int64_t i = 0; i < n; ++i) gate[i] = silu32(gate[i]) * up[i];
  } else {
    for (int64_t i = 0; i < n; ++i) gate[i] = gate32(spec, gate[i], up[i]);
  }
}

/// The 32 partial sums folded by a fixed tree; destroys them.
FT_INLINE float fold32(float* partial) {
  for (int half = kPartials / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) partial[i] += partial[i + half];
  }
  return partial[0];
}

/// sum_i a[i] * b[i] for two rows of float32: partial i mod 32, ascending.
FT_INLINE float dot32(const float* a, const float* b, int64_t n) {
  float partial[kPartials] = {};
  int64_t i = 0;
  for (; i + kPartials <= n; i += kPartials) {
    for (int l = 0; l < kPartials; ++l) partial[l] = fma32(a[i + l], b[i + l], partial[l]);
  }
  for (int l = 0; i + l < n; ++l) partial[l] = fma32(a[i + l], b[i + l], partial[l]);
  return fold32(partial);
}
