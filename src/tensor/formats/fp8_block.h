// e4m3 values with one float32 scale for each tile of 128 x 128 (DeepSeek-V3's scheme; scales
// stored as bf16, f32 or e8m0 become f32 at load). The partner is float32: an int8
// activation would lose more than the weights keep, and a chunk's sixteen products cost one fused
// multiply-add each in either case.
#pragma once

#include "tensor/formats/format.h"

namespace ft {

struct Fp8Block {
  static constexpr const char* kName = "fp8_block";
  static constexpr int kBits = 8;
  static constexpr int kChunkValues = 16;
  static constexpr int kBlock = 128;
  static constexpr int kScaleRows = 128;
  static constexpr int kScaleBytes = 4;
  static constexpr Partner kPartner = Partner::kFloat;
  // Codes are taken 2^8 too small: a kernel may read the byte as the upper half of a float16.
  static constexpr float kRowFactor = 256;

  /// NaN (0x7F), which a load refuses in experts, counts as 480.
  static FT_INLINE float value(const uint8_t* chunk, int j) {
    const uint32_t code = chunk[j];
    return f16_to_f32(static_cast<uint16_t>((code & 0x80) << 8 | (code & 0x7F) << 7));
  }
  static FT_INLINE float scale(const uint8_t* scales, int64_t block) {
    return load<float>(scales + 4 * block);
  }
  static FT_INLINE float dequantise(const uint8_t* chunk, int j, const uint8_t* scales,
                                    int64_t block, float) {
    return e4m3_to_f32(chunk[j]) * scale(scales, block);
  }
};

}  // namespace ft
