// Whole numbers of -127 to 127 with one float16 scale for each 32: what llama.cpp calls Q8_0, with the
// scales apart from the codes. No file holds it; a load makes it of plain dense weights on request.
#pragma once

#include "tensor/formats/format.h"

namespace ft {

struct Q8 {
  static constexpr const char* kName = "q8";
  static constexpr int kBits = 8;
  static constexpr int kChunkValues = 16;
  static constexpr int kBlock = 32;
  static constexpr int kScaleRows = 1;
  static constexpr int kScaleBytes = 2;
  static constexpr Partner kPartner = Partner::kInt8;
  static constexpr float kRowFactor = 1;

  /// Half a block, since a block spans two chunks.
  static FT_INLINE void unpack(const uint8_t* half, int8_t* codes) {
    for (int i = 0; i < kChunkValues; ++i)
      codes[i % 2 * (kChunkValues / 2) + i / 2] = static_cast<int8_t>(half[i]);
  }
  static FT_INLINE float scale(const uint8_t* scales, int64_t block) {
    return f16_to_f32(load<uint16_t>(scales + kScaleBytes * block));
  }
  static FT_INLINE float dequantise(const uint8_t* chunk, int j, const uint8_t* scales,
                                    int64_t block, float) {
    return static_cast<float>(static_cast<int8_t>(chunk[j])) * scale(scales, block);
  }

  /// A block of float32 values: the scale is the largest magnitude / 127, rounded to float16 first, so
  /// that codes are the nearest to what is stored. False where this scale is no finite number.
  static FT_INLINE bool quantise(const float* values, uint8_t* codes, uint8_t* scale) {
    uint32_t largest = 0;  // as bits, since NaN is larger than any number so
    for (int i = 0; i < kBlock; ++i) {
      const uint32_t magnitude = std::bit_cast<uint32_t>(values[i]) & 0x7FFFFFFFu;
      largest = magnitude > largest ? magnitude : largest;
    }
    const uint16_t stored = f32_to_f16(std::bit_cast<float>(largest) / 127.0f);
    __builtin_memcpy(scale, &stored, sizeof(stored));
    if ((stored & 0x7C00) == 0x7C00) return false;
    const float d = f16_to_f32(stored);
    const float inverse = d > 0 ? 1.0f / d : 0.0f;
    for (int i = 0; i < kBlock; ++i) {
      const float code = values[i] * inverse;  // beyond 127 where the scale was rounded down
      const float bounded = code > 127.0f ? 127.0f : (code < -127.0f ? -127.0f : code);
      // Adding 1.5 * 2^23 rounds to nearest, ties to even.
      const uint32_t whole = std::bit_cast<uint32_t>(bounded + 12582912.0f) - 0x4B400000u;
      codes[i] = static_cast<uint8_t>(whole);
    }
    return true;
  }
};

}  // namespace ft
