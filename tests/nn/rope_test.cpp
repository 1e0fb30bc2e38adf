// Frequencies against numbers computed by the reference implementation's published formulas, and
// their limits.
#include "nn/rope.h"

#include <cmath>

#include <gtest/gtest.h>

namespace ft {
namespace {

const RopeSpec kPlain = {.d_rotary = 16, .theta = 10000};

TEST(Rope, PlainFrequenciesFallGeometrically) {
  const std::vector<float> f = rope_frequencies(kPlain);
  ASSERT_EQ(f.size(), 8u);
  EXPECT_EQ(f[0], 1.0f);
  for (size_t i = 1; i < f.size(); ++i)
    EXPECT_NEAR(f[i] / f[i - 1], std::pow(10000.0, -1.0 / 8), 1e-6);
}

TEST(Rope, LinearDividesAll) {
  RopeSpec spec = kPlain;
  spec.scaling = RopeScaling::kLinear;
  spec.factor = 4;
  for (size_t i = 0; i < 8; ++i)
    EXPECT_NEAR(rope_frequencies(spec)[i] * 4, rope_frequencies(kPlain)[i], 1e-7);
}

TEST(Rope, Llama3KeepsFastAndDividesSlowOnes) {
  RopeSpec spec = kPlain;
  spec.scaling = RopeScaling::kLlama3;
  spec.factor = 8;
  spec.original_context = 64;
  const std::vector<float> plain = rope_frequencies(kPlain);
  const std::vector<float> scaled = rope_frequencies(spec);
  EXPECT_EQ(scaled[0], plain[0]);              // wavelength 6.3 < 64 / 4
  EXPECT_NEAR(scaled[7] * 8, plain[7], 1e-7);  // wavelength 19,869 > 64
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_LE(scaled[i], plain[i]);
    EXPECT_GE(scaled[i] * 8, plain[i] * 0.999999f);
  }
}

TEST(Rope, YarnKeepsFastAndDividesSlowOnes) {
  RopeSpec spec = kPlain;
  spec.scaling = RopeScaling::kYarn;
  spec.factor = 40;
  spec.original_context = 4096;
  const std::vector<float> plain = rope_frequencies(kPlain);
  const std::vector<float> scaled = rope_frequencies(spec);
  EXPECT_EQ(scaled[0], plain[0]);
  EXPECT_NEAR(scaled[7] * 40, plain[7], 1e-6);
  for (size_t i = 1; i < 8; ++i)
    EXPECT_LE(scaled[i] / plain[i], scaled[i - 1] / plain[i - 1] + 1e-6);
  EXPECT_NEAR(yarn_mscale(40, 1), 0.1 * std::log(40.0) + 1, 1e-12);
  EXPECT_EQ(yarn_mscale(1, 1), 1);
}

TEST(Rope, TableHoldsCosinesThenSines) {
  RopeSpec spec = kPlain;
  spec.attention_factor = 1.25;
  const RopeTable made(spec, 10);
  const float* table = made.cos_sin();
  const std::vector<float> f = rope_frequencies(spec);
  EXPECT_EQ(RopeTable::n_bytes(spec, 10), 160 * sizeof(float));
  for (size_t p = 0; p < 10; ++p) {
    for (size_t i = 0; i < 8; ++i) {
      EXPECT_NEAR(table[p * 16 + i], 1.25 * std::cos(static_cast<double>(p) * f[i]), 1e-6);
      EXPECT_NEAR(table[p * 16 + 8 + i], 1.25 * std::sin(static_cast<double>(p) * f[i]), 1e-6);
    }
  }
}

}  // namespace
}  // namespace ft
