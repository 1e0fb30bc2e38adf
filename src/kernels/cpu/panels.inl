// Panels of keys and values (kernels/kv_layer.h): how each type is written and read, and the
// multiplication of rows of float32 with a panel.

/// A type of panel: `step` reads the 16 lanes of one step of a pair, `code` is what is stored for a
/// float32, `offset` where it is stored.
struct F32Panel {
  using Code = float;
  static constexpr int64_t kPairBytes = 128;
  static FT_INLINE Code code(float x) { return x; }
  static FT_INLINE int64_t offset(int64_t step, int64_t lane) { return 64 * step + 4 * lane; }
  template <int kOdd>
  static FT_INLINE void step(const uint8_t* pair, Floats* values) {
    for (int v = 0; v < kPanelVectors; ++v) {
      values[v] = load_floats(pair + 64 * kOdd + 4 * kLanes * v);
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
  template <int kOdd>
  static FT_INLINE void step(const uint8_t* pair, Floats* values) {
    for (int v = 0; v < kPanelVectors; ++v) {
      const Words both = load<Words>(pair + 4 * kLanes * v);
      values[v] = std::bit_cast<Floats>(kOdd != 0 ? both & 0xFFFF0000u : both << 16);
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
  template <int kOdd>
  static FT_INLINE void step(const uint8_t* pair, Floats* values) {
    using Codes __attribute__((vector_size(32))) = int16_t;
    constexpr auto kAllButTop = static_cast<int16_t>(0xBF80);
    Codes codes;
    __builtin_memcpy(&codes, pair, sizeof(codes));
    codes = (kOdd != 0 ? codes : codes << 8) >> 1 & kAllButTop;
    for (int v = 0; v < kPanelVectors; ++v) {
      values[v] = widen(load<Halves>(reinterpret_cast<const uint8_t*>(&codes) + 2 * kLanes * v));
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
FT_INLINE void add_step(Floats (&sums)[kQ][kPanelVectors], const Floats* step, const float* x,
                        int64_t x_stride) {
  for (int q = 0; q < kQ; ++q) {
    const Floats factor = splat(x[q * x_stride]);
    for (int v = 0; v < kPanelVectors; ++v) sums[q][v] = fma32(factor, step[v], sums[q][v]);
  }
}

/// One step after the other: were both of a pair converted at once, a sum would leave its register.
template <typename P, int kQ>
FT_INLINE void multiply_steps(const PanelPart& part, const float* x, int64_t stride,
                              Floats (&sums)[kQ][kPanelVectors]) {
  Floats step[kPanelVectors];
  const uint8_t* pair = part.data + part.begin / 2 * P::kPairBytes;
  const uint8_t* end = part.data + part.end / 2 * P::kPairBytes;
  const int64_t lead = part.ahead - part.data;
  x += part.begin;
  if (part.begin % 2 != 0 && part.begin < part.end) {
    P::template step<1>(pair, step);
    add_step<kQ>(sums, step, x, stride);
    pair += P::kPairBytes;
    ++x;
  }
  for (; pair < end; pair += P::kPairBytes, x += 2) {
    __builtin_prefetch(pair + lead, 0, 2);
    if (P::kPairBytes > 64) __builtin_prefetch(pair + lead + 64, 0, 2);
    P::template step<0>(pair, step);
    add_step<kQ>(sums, step, x, stride);
    asm volatile("" : "+r"(pair));  // so that the pair is read again, not kept in registers
    P::template step<1>(pair, step);
    add_step<kQ>(sums, step, x + 1, stride);
  }
  if (part.end % 2 != 0 && pair == end) {
    P::template step<0>(pair, step);
    add_step<kQ>(sums, step, x, stride);
  }
}

/// Of kQ rows at once, whose sums stay in registers.
template <typename P, int kQ, bool kAdd>
void multiply_queries(const PanelPart& part, const PanelProduct& product) {
  Floats sums[kQ][kPanelVectors];
  for (int q = 0; q < kQ; ++q) {
    for (int v = 0; v < kPanelVectors; ++v) {
      sums[q][v] = kAdd ? load_floats(product.y + q * product.y_stride + v * kLanes) : Floats{};
    }
  }
  multiply_steps<P, kQ>(part, product.x, product.x_stride, sums);
  for (int q = 0; q < kQ; ++q) {
    for (int v = 0; v < kPanelVectors; ++v) {
      store_floats(product.y + q * product.y_stride + v * kLanes, sums[q][v]);
    }
  }
}

/// Rows whose sums fit into the registers beside what the steps need: enough of them to hide the
/// latency of a multiply-add.
constexpr int kRowsAtOnce = kLanes == 16 ? 8 : 4;

template <typename P, bool kAdd, int kQ = kRowsAtOnce>
FT_INLINE void multiply_panel(const PanelPart& part, PanelProduct product, int64_t n_rows) {
  for (; n_rows >= kQ; n_rows -= kQ) {
    multiply_queries<P, kQ, kAdd>(part, product);
    product.x += kQ * product.x_stride;
    product.y += kQ * product.y_stride;
  }
  if constexpr (kQ > 1) multiply_panel<P, kAdd, kQ / 2>(part, product, n_rows);
}

/// n pairs of steps as float32, one step after the other.
template <typename P>
void expand_pairs(const uint8_t* from, int64_t n, float* to) {
  for (int64_t i = 0; i < n; ++i) {
    Floats even[kPanelVectors];
    Floats odd[kPanelVectors];
    P::template step<0>(from + i * P::kPairBytes, even);
    P::template step<1>(from + i * P::kPairBytes, odd);
    for (int v = 0; v < kPanelVectors; ++v) {
      store_floats(to + 32 * i + v * kLanes, even[v]);
      store_floats(to + 32 * i + 16 + v * kLanes, odd[v]);
    }
  }
}
