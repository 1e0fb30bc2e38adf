// Two e2m1 values a byte (low nibble first), one e4m3 scale for each 16, one float32 factor for the
// whole matrix.
#pragma once

#include "tensor/formats/format.h"

namespace ft {

struct Nvfp4 {
  static constexpr const char* kName = "nvfp4";
  static constexpr int kBits = 4;
  static constexpr int kChunkValues = 32;
  static constexpr int kBlock = 16;
  static constexpr int kScaleRows = 1;
  static constexpr int kScaleBytes = 1;
  static constexpr Partner kPartner = Partner::kInt8;
  // Codes are doubled, and scales taken 2^8 too small: a kernel may read the byte as the upper half
  // of a float16, which is fast everywhere.
  static constexpr float kRowFactor = 128;

  static FT_INLINE void unpack(const uint8_t* block, int8_t* codes) {
    unpack_e2m1<kBlock / 2>(block, codes);
  }
  static FT_INLINE float scale(const uint8_t* scales, int64_t block) {
    return e4m3_to_f32(scales[block]) * 0x1p-8f;  // exact: the smallest scale is 2^-9
  }
  static FT_INLINE float dequantise(const uint8_t* chunk, int j, const uint8_t* scales,
                                    int64_t block, float factor) {
    return 0.5f * static_cast<float>(e2m1_doubled(nibble(chunk, j))) *
           (e4m3_to_f32(scales[block]) * factor);
  }
};

}  // namespace ft
