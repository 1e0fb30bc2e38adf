// The scalar table against plain formulations in double precision.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/support/cpu_lane.h"
#include "tests/support/random_weights.h"

namespace ft::test {
namespace {

const FormatId kFormats[] = {id_of<F32>,      id_of<F16>,   id_of<Bf16>,
                             id_of<Fp8Block>, id_of<Mxfp4>, id_of<Nvfp4>};

/// sum_k w x and sum_k |w x| of each output.
struct Product {
  double sum = 0;
  double size = 0;
};

Product product(const WeightView& w, int64_t n, const float* x) {
  Product p;
  for (int64_t k = 0; k < w.cols; ++k) {
    p.sum += meant(w, n, k) * x[k];
    p.size += std::abs(meant(w, n, k) * x[k]);
  }
  return p;
}

TEST(Reference, ExactLinearIsTheDequantisedProduct) {
  Random random(1);
  CpuLane c("scalar", true);
  for (const FormatId format : kFormats) {
    const int64_t cols = 32 * 21;
    const RandomMatrix w(random, format, 150, cols);
    std::vector<float> x = random_floats(random, 3 * cols);
    std::vector<float> y(3 * 150);
    c.ops().linear(c.lane, {.w = w.view, .x = view_of(x, 3, cols), .y = view_of(y, 3, 150)});
    for (int64_t r = 0; r < 3; ++r) {
      for (int64_t n = 0; n < 150; ++n) {
        const Product p = product(w.view, n, x.data() + r * cols);
        EXPECT_NEAR(y[static_cast<size_t>(r * 150 + n)], p.sum, 4e-6 * p.size) << name_of(format);
      }
    }
  }
}

TEST(Reference, OwnLinearKeepsTheNorm) {
  Random random(2);
  CpuLane c("scalar");
  for (const FormatId format : kFormats) {
    const int64_t cols = 32 * 40;
    const RandomMatrix w(random, format, 200, cols);
    std::vector<float> x = random_floats(random, cols);
    std::vector<float> y(200);
    c.ops().linear(c.lane, {.w = w.view, .x = view_of(x, 1, cols), .y = view_of(y, 1, 200)});
    double error = 0;
    double norm = 0;
    for (int64_t n = 0; n < 200; ++n) {
      const Product p = product(w.view, n, x.data());
      error += std::pow(y[static_cast<size_t>(n)] - p.sum, 2);
      norm += p.sum * p.sum;
    }
    const bool is_int8 = format == id_of<Mxfp4> || format == id_of<Nvfp4>;
    EXPECT_LT(error / norm, is_int8 ? 2e-4 : 1e-11) << name_of(format);
  }
}

TEST(Reference, SlicesOfAMatrixKeepTheirScales) {
  Random random(3);
  CpuLane c("scalar");
  for (const FormatId format : kFormats) {
    const RandomMatrix w(random, format, 300, 160);
    std::vector<float> x = random_floats(random, 160);
    std::vector<float> all(300);
    std::vector<float> part(100);
    c.ops().linear(c.lane, {.w = w.view, .x = view_of(x, 1, 160), .y = view_of(all, 1, 300)});
    c.ops().linear(
        c.lane, {.w = w.view.slice(77, 100), .x = view_of(x, 1, 160), .y = view_of(part, 1, 100)});
    EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin() + 77)) << name_of(format);
  }
}

TEST(Reference, ResultOfARowDoesNotDependOnItsCompany) {
  Random random(4);
  CpuLane c("scalar");
  for (const FormatId format : kFormats) {
    const RandomMatrix w(random, format, 40, 480);
    std::vector<float> x = random_floats(random, 37 * 480);
    std::vector<float> all(37 * 40);
    c.ops().linear(c.lane, {.w = w.view, .x = view_of(x, 37, 480), .y = view_of(all, 37, 40)});
    for (int64_t r = 0; r < 37; ++r) {
      std::vector<float> one(40);
      const TensorView row = {.data = x.data() + r * 480, .rows = 1, .cols = 480, .stride = 480};
      c.ops().linear(c.lane, {.w = w.view, .x = row, .y = view_of(one, 1, 40)});
      EXPECT_TRUE(std::equal(one.begin(), one.end(), all.begin() + r * 40)) << name_of(format);
    }
  }
}

TEST(Reference, ActivationsAreAccurate) {
  CpuLane c("scalar");
  std::vector<float> x;
  for (double v = -90; v < 90; v += 0.0371) x.push_back(static_cast<float>(v));
  const auto n = static_cast<int64_t>(x.size());
  std::vector<float> y = x;
  std::vector<float> ones(x.size(), 1.0f);
  c.ops().gate(c.lane, {.spec = {}, .gate = view_of(y, 1, n), .up = view_of(ones, 1, n)});
  for (size_t i = 0; i < x.size(); ++i) {
    const double expected = x[i] / (1 + std::exp(-static_cast<double>(x[i])));
    EXPECT_NEAR(y[i], expected, 4e-7 * std::abs(expected) + 1e-35) << x[i];
  }
  y = x;
  c.ops().gate(c.lane, {.spec = {Activation::kClampedSwiglu, 1.702f, 7},
                        .gate = view_of(y, 1, n),
                        .up = view_of(x, 1, n)});
  for (size_t i = 0; i < x.size(); ++i) {
    const double g = std::min<double>(x[i], 7);
    const double u = std::clamp<double>(x[i], -7, 7);
    const double expected = g / (1 + std::exp(-static_cast<double>(1.702f) * g)) * (u + 1);
    EXPECT_NEAR(y[i], expected, 5e-6 * std::abs(expected) + 1e-30) << x[i];
  }
}

TEST(Reference, AttentionIsSoftmaxOverTheWindow) {
  Random random(5);
  CpuLane c("scalar");
  constexpr int64_t kD = 20;
  constexpr int64_t kPositions = 100;
  std::vector<float> k = random_floats(random, kPositions * kD);
  std::vector<float> v = random_floats(random, kPositions * kD);
  std::vector<float> q = random_floats(random, kPositions * 2 * kD);
  const std::vector<float> sinks = {0.5f, -1.0f};
  std::vector<float> y(kPositions * 2 * kD);
  std::vector<int32_t> positions(kPositions);
  std::iota(positions.begin(), positions.end(), 0);
  const std::vector<int32_t> pages = {1, 0};
  const std::vector<const int32_t*> tables(kPositions, pages.data());
  std::vector<float> memory(2 * kPageTokens * 2 * kD);
  const KvLayer kv = {.pages = reinterpret_cast<uint8_t*>(memory.data()),
                      .page_bytes = kPageTokens * 2 * kD * 4,
                      .n_kv_heads = 1,
                      .d_k = kD,
                      .d_v = kD,
                      .is_f32 = true};
  const RowPositions rows = {kPositions, positions.data(), tables.data(), kPositions};
  c.ops().store_kv(
      c.lane,
      {.kv = kv, .rows = rows, .k = view_of(k, kPositions, kD), .v = view_of(v, kPositions, kD)});
  c.ops().attention(c.lane, {.kv = kv,
                             .rows = rows,
                             .q = view_of(q, kPositions, 2 * kD),
                             .out = view_of(y, kPositions, 2 * kD),
                             .n_heads = 2,
                             .scale = 0.25f,
                             .window = 33,
                             .sinks = sinks.data()});
  for (int64_t r = 0; r < kPositions; ++r) {
    for (int64_t h = 0; h < 2; ++h) {
      double total = std::exp(static_cast<double>(sinks[static_cast<size_t>(h)]));
      std::vector<double> mixed(kD, 0.0);
      for (int64_t t = std::max<int64_t>(0, r - 32); t <= r; ++t) {
        double score = 0;
        for (int64_t i = 0; i < kD; ++i)
          score += double(q[static_cast<size_t>((r * 2 + h) * kD + i)]) *
                   k[static_cast<size_t>(t * kD + i)];
        const double weight = std::exp(score * 0.25);
        total += weight;
        for (int64_t i = 0; i < kD; ++i)
          mixed[static_cast<size_t>(i)] += weight * v[static_cast<size_t>(t * kD + i)];
      }
      for (int64_t i = 0; i < kD; ++i) {
        EXPECT_NEAR(y[static_cast<size_t>((r * 2 + h) * kD + i)],
                    mixed[static_cast<size_t>(i)] / total, 2e-6);
      }
    }
  }
}

TEST(Reference, RouterFindsAWinnerAtEveryPlace) {
  CpuLane c("scalar");
  for (const int64_t n_experts : {8, 60, 128, 512, 1024}) {
    const RouterSpec spec = {
        .n_experts = n_experts, .n_active = 3, .scoring = Scoring::kSoftmax, .renormalise = true};
    for (int64_t winner = 0; winner < n_experts; ++winner) {
      std::vector<float> logits(static_cast<size_t>(n_experts), 0.0f);
      logits[static_cast<size_t>(winner)] = 5;
      int32_t ids[3];
      float weights[3];
      c.ops().route(
          c.lane,
          {.spec = spec, .logits = view_of(logits, 1, n_experts), .ids = ids, .weights = weights});
      ASSERT_EQ(ids[0], winner);
      ASSERT_EQ(ids[1], winner == 0 ? 1 : 0);  // ties go to the lower id
      ASSERT_NEAR(weights[0], std::exp(5) / (std::exp(5) + 2), 1e-6);
      ASSERT_NEAR(weights[0] + weights[1] + weights[2], 1, 1e-6);
    }
  }
}

TEST(Reference, SelectionBiasStaysOutOfTheWeights) {
  CpuLane c("scalar");
  std::vector<float> logits = {
      -18, 1, 2, 0};  // sigmoid(-18) is about 1.5e-8: subtracting a bias would lose it
  const std::vector<float> bias = {12, 0, 0, 0};
  int32_t ids[2];
  float weights[2];
  c.ops().route(c.lane, {.spec = {.n_experts = 4, .n_active = 2, .scoring = Scoring::kSigmoid},
                         .logits = view_of(logits, 1, 4),
                         .bias = bias.data(),
                         .ids = ids,
                         .weights = weights});
  EXPECT_EQ(ids[0], 0);
  EXPECT_EQ(ids[1], 2);
  EXPECT_NEAR(weights[0], 1.0 / (1 + std::exp(18.0)), 1e-14);
  EXPECT_NEAR(weights[1], 1.0 / (1 + std::exp(-2.0)), 1e-6);
}

TEST(Reference, ImpossibleInstructionSetIsRefusedWithTheList) {
  try {
    cpu_ops("avx9000", false);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_NE(std::string(error.what()).find("scalar"), std::string::npos);
  }
}

}  // namespace
}  // namespace ft::test
