// Weights that are stored as ordinary numbers: float32, float16, bfloat16.
#pragma once

#include "tensor/formats/format.h"

namespace ft {

/// What the three have in common. Number: the stored type, and how it becomes a float32.
template <typename Number>
struct PlainFormat {
  static constexpr int kBits = 8 * sizeof(typename Number::Stored);
  static constexpr int kChunkValues = kChunkBytes / sizeof(typename Number::Stored);
  static constexpr int kBlock = 0;
  static constexpr int kScaleRows = 1;
  static constexpr int kScaleBytes = 0;
  static constexpr Partner kPartner = Partner::kFloat;
  static constexpr float kRowFactor = 1;

  static FT_INLINE float value(const uint8_t* chunk, int j) {
    using Stored = typename Number::Stored;
    return Number::to_f32(load<Stored>(chunk + j * static_cast<int>(sizeof(Stored))));
  }
  static FT_INLINE float scale(const uint8_t*, int64_t) { return 1; }
  static FT_INLINE float dequantise(const uint8_t* chunk, int j, const uint8_t*, int64_t, float) {
    return value(chunk, j);
  }
};

struct F32Number {
  using Stored = float;
  static FT_INLINE float to_f32(float value) { return value; }
};
struct F16Number {
  using Stored = uint16_t;
  static FT_INLINE float to_f32(uint16_t bits) { return f16_to_f32(bits); }
};
struct Bf16Number {
  using Stored = uint16_t;
  static FT_INLINE float to_f32(uint16_t bits) { return bf16_to_f32(bits); }
};

struct F32 : PlainFormat<F32Number> {
  static constexpr const char* kName = "f32";
};
struct F16 : PlainFormat<F16Number> {
  static constexpr const char* kName = "f16";
};
struct Bf16 : PlainFormat<Bf16Number> {
  static constexpr const char* kName = "bf16";
};

}  // namespace ft
