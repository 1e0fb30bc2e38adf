// Conversions against the definitions of the formats.
#include "tensor/numeric.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace ft {
namespace {

TEST(Numeric, HalfFollowsItsDefinition) {
  for (int code = 0; code < 0x10000; ++code) {
    const int exponent = (code >> 10) & 31;
    const int mantissa = code & 1023;
    const float actual = f16_to_f32(static_cast<uint16_t>(code));
    if (exponent == 31 && mantissa != 0) {
      EXPECT_TRUE(std::isnan(actual)) << code;
      continue;
    }
    double size = std::numeric_limits<double>::infinity();
    if (exponent == 0) size = std::ldexp(mantissa, -24);
    if (exponent > 0 && exponent < 31) size = std::ldexp(1024 + mantissa, exponent - 25);
    EXPECT_EQ(std::fabs(actual), size) << code;
    EXPECT_EQ(std::signbit(actual), code >> 15 != 0) << code;
  }
}

TEST(Numeric, HalfIsTheNearestEvenWhereTwoAre) {
  for (uint32_t code = 0; code < 0x7C00; ++code) {
    const auto half = static_cast<uint16_t>(code);
    const float value = f16_to_f32(half);
    // Behind the largest comes infinity, as if it were the next number.
    const float next = code == 0x7BFF ? 65536.0f : f16_to_f32(static_cast<uint16_t>(code + 1));
    const float middle = (value + next) / 2;
    const auto even = static_cast<uint16_t>(code + code % 2);
    EXPECT_EQ(f32_to_f16(value), half);
    EXPECT_EQ(f32_to_f16(-value), half | 0x8000);
    EXPECT_EQ(f32_to_f16(middle), even);
    EXPECT_EQ(f32_to_f16(std::nextafter(middle, 0.0f)), half);
    EXPECT_EQ(f32_to_f16(std::nextafter(middle, next)), half + 1);
  }
  EXPECT_EQ(f32_to_f16(std::numeric_limits<float>::max()), 0x7C00);
  EXPECT_EQ(f32_to_f16(-std::numeric_limits<float>::infinity()), 0xFC00);
  EXPECT_TRUE(std::isnan(f16_to_f32(f32_to_f16(std::numeric_limits<float>::quiet_NaN()))));
}

TEST(Numeric, Bf16RoundTripsAndRoundsToNearestEven) {
  for (uint32_t code = 0; code < 0x10000; ++code) {
    const float value = bf16_to_f32(static_cast<uint16_t>(code));
    if (std::isnan(value)) continue;
    EXPECT_EQ(f32_to_bf16(value), code);
  }
  EXPECT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_EQ(f32_to_bf16(1.0f + 0x1p-8f), 0x3F80);      // half way, to even
  EXPECT_EQ(f32_to_bf16(1.0f + 3 * 0x1p-8f), 0x3F82);  // half way, to even
  EXPECT_EQ(f32_to_bf16(std::nextafter(1.0f + 0x1p-8f, 2.0f)), 0x3F81);
  EXPECT_EQ(f32_to_bf16(std::numeric_limits<float>::max()), 0x7F80);
}

TEST(Numeric, E4m3FollowsItsDefinition) {
  for (int code = 0; code < 256; ++code) {
    const int exponent = (code >> 3) & 15;
    const int mantissa = code & 7;
    const float actual = e4m3_to_f32(static_cast<uint8_t>(code));
    if (exponent == 15 && mantissa == 7) {
      EXPECT_TRUE(std::isnan(actual));
      continue;
    }
    const double magnitude =
        exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10);
    EXPECT_EQ(actual, (code & 128) != 0 ? -magnitude : magnitude) << code;
    EXPECT_EQ(std::signbit(actual), (code & 128) != 0) << code;
  }
}

TEST(Numeric, E8m0IsAPowerOfTwo) {
  EXPECT_EQ(e8m0_to_f32(0), 0.0f);
  for (int code = 1; code < 255; ++code)
    EXPECT_EQ(e8m0_to_f32(static_cast<uint8_t>(code)), std::ldexp(1.0, code - 127));
}

TEST(Numeric, E2m1HasItsEightMagnitudes) {
  const double magnitudes[8] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (int code = 0; code < 16; ++code) {
    const double expected = magnitudes[code & 7] * (code >= 8 ? -1 : 1);
    EXPECT_EQ(e2m1_doubled(static_cast<uint8_t>(code)), 2 * expected) << code;
  }
}

}  // namespace
}  // namespace ft
