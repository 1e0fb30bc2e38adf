// What turning numbers into q8 keeps of them, and what it refuses.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <span>

#include <gtest/gtest.h>

#include "tensor/formats.h"

namespace ft {
namespace {

struct Block {
  float values[Q8::kBlock] = {};
  uint8_t codes[Q8::kBlock] = {};
  uint8_t scale[Q8::kScaleBytes] = {};

  bool quantise() { return Q8::quantise(values, codes, scale); }
  double d() const { return f16_to_f32(load<uint16_t>(scale)); }
  double kept(int i) const {
    return Q8::dequantise(codes + i / Q8::kChunkValues * kChunkBytes, i % Q8::kChunkValues, scale,
                          0, 1);
  }
  double largest() const {
    double most = 0;
    for (const float value : values) most = std::max(most, std::fabs(static_cast<double>(value)));
    return most;
  }
};

TEST(Q8, EachValueIsKeptToHalfAStep) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 1);
  for (int turn = 0; turn < 4000; ++turn) {
    Block block;
    const float size = std::ldexp(1.0f, turn % 40 - 30);  // of which some scales are subnormal
    for (float& value : block.values) value = normal(random) * size;
    ASSERT_TRUE(block.quantise());
    // A scale that was rounded down leaves the largest values beyond code 127.
    const double cut = std::max(0.0, block.largest() - 127 * block.d());
    EXPECT_LE(std::fabs(block.d() - block.largest() / 127),
              std::max(block.largest() / 127 * 0x1p-11 * 1.001, 0x1p-25));
    for (int i = 0; i < Q8::kBlock; ++i) {
      EXPECT_NE(static_cast<int8_t>(block.codes[i]), -128);
      EXPECT_LE(std::fabs(block.kept(i) - block.values[i]),
                std::max(block.d() / 2 * 1.0001, cut) + 0x1p-149)
          << turn << ", " << i;
    }
  }
}

TEST(Q8, WhatQ8CanHoldIsKeptExactly) {
  Block block;
  for (int i = 0; i < Q8::kBlock; ++i) block.values[i] = 0.375f * static_cast<float>(8 * i - 127);
  ASSERT_TRUE(block.quantise());
  EXPECT_EQ(block.d(), 0.375);
  for (int i = 0; i < Q8::kBlock; ++i) EXPECT_EQ(block.kept(i), block.values[i]);
}

TEST(Q8, ZerosAndTracesBecomeZeros) {
  for (const float size : {0.0f, 1e-6f, std::numeric_limits<float>::denorm_min()}) {
    Block block;
    for (int i = 0; i < Q8::kBlock; ++i) block.values[i] = i % 2 == 0 ? size : -size;
    ASSERT_TRUE(block.quantise());
    for (int i = 0; i < Q8::kBlock; ++i) EXPECT_EQ(block.kept(i), 0);
  }
}

TEST(Q8, WhatHasNoFiniteScaleIsRefused) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float bad : {infinity, -infinity, std::nanf(""), 8.33e6f, -8.33e6f, 3e38f}) {
    Block block;
    block.values[17] = bad;
    EXPECT_FALSE(block.quantise()) << bad;
  }
  Block block;
  block.values[31] = -8.3e6f;
  EXPECT_TRUE(block.quantise());
}

}  // namespace
}  // namespace ft
