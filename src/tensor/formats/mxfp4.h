// Two e2m1 values a byte (low nibble first) with one e8m0 scale for each 32: the OCP MX format.
// gpt-oss stores it as `_blocks`/`_scales`, DeepSeek-V4 as int8 `weight` with an e8m0 `scale`; both
// are these bytes.
#pragma once

#include "tensor/formats/format.h"

namespace ft {

struct Mxfp4 {
  static constexpr const char* kName = "mxfp4";
  static constexpr int kBits = 4;
  static constexpr int kChunkValues = 32;
  static constexpr int kBlock = 32;
  static constexpr int kScaleRows = 1;
  static constexpr int kScaleBytes = 1;
  static constexpr Partner kPartner = Partner::kInt8;
  static constexpr float kRowFactor = 0.5f;  // codes are doubled

  static FT_INLINE void unpack(const uint8_t* block, int8_t* codes) {
    unpack_e2m1<kBlock / 2>(block, codes);
  }
  static FT_INLINE float scale(const uint8_t* scales, int64_t block) {
    return e8m0_to_f32(scales[block]);
  }
  static FT_INLINE float dequantise(const uint8_t* chunk, int j, const uint8_t* scales,
                                    int64_t block, float) {
    return 0.5f * static_cast<float>(e2m1_doubled(nibble(chunk, j))) * scale(scales, block);
  }
};

}  // namespace ft
