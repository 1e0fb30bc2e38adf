// Panels of keys and values (kernels/kv_layer.h): how each type is written and read, and the
// multiplication of rows of float32 with a panel.

/// A type of panel: `pair` reads two steps of 16 lanes, `code` is what is stored for a float32,
/// `offset` where it is stored.
struct F32Panel {
  using Code = float;
  static constexpr int64_t kPairBytes = 128;
  static FT_INLINE Code code(float x) { return x; }
  static FT_INLINE int64_t offset(int64_t step, int64_t lane) { return 64 * step + 4 * lane; }
  static FT_INLINE void pair(const uint8_t* from, Floats* even, Floats* odd) {
    for (int v = 0; v < kVectors; ++v) {
      even[v] = load_floats(from + 4 * kLanes * v);
      odd[v] = load_floats(from + 64 + 4 * kLanes * v);
    }
  }
};

struct Bf16Panel {
  using Code = uint16_t;
  static constexpr int64_t kPairBytes = 64;
  static FT_INLINE Code code(float x) { return f32_to_bf16(x); }
  static FT_INLINE int64_t offset(int64_t step, int64_t lane) {
    return step / 2 * 64 + lane * 4 + step % 2 * 2;
  }
  static FT_INLINE void pair(const uint8_t* from, Floats* even, Floats* odd) {
    for (int v = 0; v < kVectors; ++v) {
      const Words both = load<Words>(from + 4 * kLanes * v);
      even[v] = std::bit_cast<Floats>(both << 16);
      odd[v] = std::bit_cast<Floats>(both & 0xFFFF0000u);
    }
  }
};

/// e4m3, read as the high bits of a half: 2^8 too small, which the scale makes good.
struct Fp8Panel {
  using Code = uint8_t;
  static constexpr int64_t kPairBytes = 32;
  static constexpr float kLargest = 1.75f;
  static FT_INLINE int64_t offset(int64_t step, int64_t lane) {
    return step / 2 * 32 + lane * 2 + step % 2;
  }
  /// Nearest, ties to even; NaN and what is too large become the largest.
  static FT_INLINE Code code(float x) {
    const uint32_t bits = std::bit_cast<uint32_t>(x);
    const uint32_t magnitude = bits & 0x7FFFFFFFu;
    const uint32_t normal = ((magnitude + 0x7FFFFu + (magnitude >> 20 & 1)) >> 20) - (112u << 3);
    // Below 2^-14 codes count steps of 2^-17, the last place of a float32 near 64.
    const float shifted = std::bit_cast<float>(magnitude) + 64.0f;
    const uint32_t small = std::bit_cast<uint32_t>(shifted) - 0x42800000u;
    const uint32_t chosen = magnitude < 0x38800000u ? small : normal;
    return static_cast<Code>((chosen > 0x7E ? 0x7E : chosen) | (bits >> 24 & 0x80));
  }
  /// A code in the high byte of a word becomes a half when exponent and mantissa move down by one.
  static FT_INLINE void pair(const uint8_t* from, Floats* even, Floats* odd) {
    using Codes __attribute__((vector_size(32))) = int16_t;
    constexpr auto kAllButTop = static_cast<int16_t>(0xBF80);
    Codes both;
    __builtin_memcpy(&both, from, sizeof(both));
    const Codes low = (both << 8) >> 1 & kAllButTop;
    const Codes high = both >> 1 & kAllButTop;
    for (int v = 0; v < kVectors; ++v) {
      even[v] = widen(load<Halves>(reinterpret_cast<const uint8_t*>(&low) + 2 * kLanes * v));
      odd[v] = widen(load<Halves>(reinterpret_cast<const uint8_t*>(&high) + 2 * kLanes * v));
    }
  }
};

/// The scale of a row that is stored as fp8. A NaN or an infinity makes it one, so that it shows.
FT_INLINE float fp8_scale(const float* x, int64_t n) {
  uint32_t largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t magnitude = std::bit_cast<uint32_t>(x[i]) & 0x7FFFFFFFu;
    largest = magnitude > largest ? magnitude : largest;
  }
  const float amax = std::bit_cast<float>(largest);
  return amax < 0x1p-100f ? 0.0f : amax / Fp8Panel::kLargest;
}

/// Steps [begin, end) of a panel; `ahead` is what will be read soon, and is prefetched.
struct PanelPart {
  const uint8_t* data = nullptr;
  const uint8_t* ahead = nullptr;
  int64_t begin = 0;
  int64_t end = 0;
};

/// y[q][lane] (+)= sum_i x[q][i] * panel[i][lane], steps ascending, one fused multiply-add each.
struct PanelProduct {
  const float* x = nullptr;
  int64_t x_stride = 0;
  float* y = nullptr;
  int64_t y_stride = 0;
};

template <int kQ>
FT_INLINE void add_step(Floats (&sums)[kQ][kVectors], const Floats* step, const float* x,
                        int64_t x_stride) {
  for (int q = 0; q < kQ; ++q) {
    const Floats factor = splat(x[q * x_stride]);
    for (int v = 0; v < kVectors; ++v) sums[q][v] = fma32(factor, step[v], sums[q][v]);
  }
}

/// Of float32 only one step at a time is in registers: they are needed for sums.
template <typename P, int kQ>
requires(std::is_same_v<P, F32Panel>) FT_INLINE
    void multiply_steps(const PanelPart& part, const float* x, int64_t stride,
                        Floats (&sums)[kQ][kVectors]) {
  for (int64_t i = part.begin; i < part.end; ++i) {
    Floats step[kVectors];
    for (int v = 0; v < kVectors; ++v) step[v] = load_floats(part.data + 64 * i + 4 * kLanes * v);
    __builtin_prefetch(part.ahead + 64 * i, 0, 2);
    add_step<kQ>(sums, step, x + i, stride);
  }
}

template <typename P, int kQ>
FT_INLINE void multiply_steps(const PanelPart& part, const float* x, int64_t stride,
                              Floats (&sums)[kQ][kVectors]) {
  Floats even[kVectors];
  Floats odd[kVectors];
  int64_t i = part.begin;
  if (i % 2 != 0 && i < part.end) {
    P::pair(part.data + i / 2 * P::kPairBytes, even, odd);
    add_step<kQ>(sums, odd, x + i, stride);
    ++i;
  }
  for (; i + 2 <= part.end; i += 2) {
    const int64_t at = i / 2 * P::kPairBytes;
    __builtin_prefetch(part.ahead + at, 0, 2);
    P::pair(part.data + at, even, odd);
    add_step<kQ>(sums, even, x + i, stride);
    add_step<kQ>(sums, odd, x + i + 1, stride);
  }
  if (i < part.end) {
    P::pair(part.data + i / 2 * P::kPairBytes, even, odd);
    add_step<kQ>(sums, even, x + i, stride);
  }
}

/// Of kQ rows at once, whose sums stay in registers.
template <typename P, int kQ, bool kAdd>
void multiply_rows(const PanelPart& part, const PanelProduct& product) {
  Floats sums[kQ][kVectors];
  for (int q = 0; q < kQ; ++q) {
    for (int v = 0; v < kVectors; ++v) {
      sums[q][v] = kAdd ? load_floats(product.y + q * product.y_stride + v * kLanes) : Floats{};
    }
  }
  multiply_steps<P, kQ>(part, product.x, product.x_stride, sums);
  for (int q = 0; q < kQ; ++q) {
    for (int v = 0; v < kVectors; ++v) {
      store_floats(product.y + q * product.y_stride + v * kLanes, sums[q][v]);
    }
  }
}

/// Rows whose sums fit into this unit's registers beside what P::pair needs.
template <typename P>
constexpr int kRowsAtOnce = kLanes == 16 ? (std::is_same_v<P, F32Panel> ? 12 : 8)
                                         : (kLanes == 8 && std::is_same_v<P, F32Panel> ? 6 : 4);

template <typename P, bool kAdd, int kQ = kRowsAtOnce<P>>
FT_INLINE void multiply_panel(const PanelPart& part, PanelProduct product, int64_t n_rows) {
  for (; n_rows >= kQ; n_rows -= kQ) {
    multiply_rows<P, kQ, kAdd>(part, product);
    product.x += kQ * product.x_stride;
    product.y += kQ * product.y_stride;
  }
  if constexpr (kQ > 1) multiply_panel<P, kAdd, kQ / 2>(part, product, n_rows);
}

/// n pairs of steps as float32, one step after the other.
template <typename P>
void expand_pairs(const uint8_t* from, int64_t n, float* to) {
  for (int64_t i = 0; i < n; ++i) {
    Floats even[kVectors];
    Floats odd[kVectors];
    P::pair(from + i * P::kPairBytes, even, odd);
    for (int v = 0; v < kVectors; ++v) {
      store_floats(to + 32 * i + v * kLanes, even[v]);
      store_floats(to + 32 * i + 16 + v * kLanes, odd[v]);
    }
  }
}
