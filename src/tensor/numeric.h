// Conversions between stored numbers and float32, by integer arithmetic and exact multiplications
// only, so that every instruction set and a GPU give the same bits. Always inlined: a copy shared
// between units would carry one unit's flags.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "base/inline.h"

namespace ft {

template <typename T>
FT_INLINE T load(const void* from) {
  T value;
  __builtin_memcpy(&value, from, sizeof(T));
  return value;
}

FT_INLINE float bf16_to_f32(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

/// Round to nearest, ties to even. NaN stays NaN.
FT_INLINE uint16_t f32_to_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  const bool is_nan = (bits & 0x7FFFFFFF) > 0x7F800000;
  return static_cast<uint16_t>(is_nan ? ((bits >> 16) | 0x40) : rounded);
}

FT_INLINE float f16_to_f32(uint16_t bits) {
  // The exponent fields differ by 112; multiplying also normalises half's subnormals.
  const uint32_t magnitude = static_cast<uint32_t>(bits & 0x7FFF) << 13;
  const float scaled = std::bit_cast<float>(magnitude) * 0x1p112f;
  const uint32_t special =
      (bits & 0x7C00) == 0x7C00 ? (0x7F800000u | magnitude) : std::bit_cast<uint32_t>(scaled);
  return std::bit_cast<float>(special | (static_cast<uint32_t>(bits & 0x8000) << 16));
}

/// Round to nearest, ties to even; 65520 and more become infinite. NaN stays NaN.
FT_INLINE uint16_t f32_to_f16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7FFFFFFF;
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  if (magnitude > 0x7F800000) return static_cast<uint16_t>(sign | 0x7E00);
  if (magnitude >= 0x477FF000) return static_cast<uint16_t>(sign | 0x7C00);
  if (magnitude < 0x38800000) {  // a subnormal half: 0.5f has its last bit where these have theirs
    const uint32_t rounded = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f);
    return static_cast<uint16_t>(sign | (rounded - 0x3F000000));
  }
  const uint32_t rounded = magnitude + 0xFFF + (magnitude >> 13 & 1);
  return static_cast<uint16_t>(sign | (rounded - 0x38000000) >> 13);
}

/// e4m3fn: no infinities, 0x7F and 0xFF are NaN, largest 448.
FT_INLINE float e4m3_to_f32(uint8_t code) {
  const uint32_t magnitude = static_cast<uint32_t>(code & 0x7F);
  const float scaled = std::bit_cast<float>(magnitude << 20) * 0x1p120f;
  const uint32_t bits = magnitude == 0x7F ? 0x7FC00000u : std::bit_cast<uint32_t>(scaled);
  return std::bit_cast<float>(bits | (static_cast<uint32_t>(code & 0x80) << 24));
}

/// 2^(code - 127). Code 0 counts as 0; 255 (NaN) is refused at load.
FT_INLINE float e8m0_to_f32(uint8_t code) {
  return std::bit_cast<float>(static_cast<uint32_t>(code) << 23);
}

/// Twice the value of a four-bit e2m1 code: 0, 1, 2, 3, 4, 6, 8, 12 and their negatives. In bytes
/// throughout, so that a compiler can do many at once.
FT_INLINE int8_t e2m1_doubled(uint8_t nibble) {
  const auto m = static_cast<uint8_t>(nibble & 7);
  const auto more = static_cast<uint8_t>((m > 4 ? 1 : 0) + (m > 5 ? 1 : 0) + (m > 6 ? 3 : 0));
  const auto doubled = static_cast<uint8_t>(m + more);
  const auto sign = static_cast<uint8_t>(nibble & 8 ? 0xFF : 0);
  return static_cast<int8_t>(static_cast<uint8_t>((doubled ^ sign) - sign));
}

/// Value j of packed four-bit codes, low nibble first.
FT_INLINE uint8_t nibble(const uint8_t* bytes, int j) {
  return static_cast<uint8_t>((bytes[j / 2] >> (4 * (j & 1))) & 15);
}

/// The codes of kBytes packed bytes, doubled: those of the low nibbles (even values), then those of
/// the high ones.
template <int kBytes>
FT_INLINE void unpack_e2m1(const uint8_t* bytes, int8_t* codes) {
  for (int i = 0; i < kBytes; ++i) {
    codes[i] = e2m1_doubled(static_cast<uint8_t>(bytes[i] & 15));
    codes[kBytes + i] = e2m1_doubled(static_cast<uint8_t>(bytes[i] >> 4));
  }
}

}  // namespace ft
