// The scalar table's multiplications and attention against plain formulations in double precision.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/cases/attention_case.h"
#include "tests/cases/linear_case.h"
#include "tests/kernels/plain.h"
#include "tests/support/cpu_lane.h"

namespace ft::test {
namespace {

void compare_linear(Random& random, const LinearCase& test, bool exact) {
  CpuLane c("scalar", exact);
  LinearInput input(random, test);
  std::vector<float> y(static_cast<size_t>(test.n_outputs()));
  input.run(c.lane, y);
  for (int64_t r = 0; r < test.n_rows; ++r) {
    const std::vector<double> seen =
        activations(test.format, exact, input.x.data() + r * test.d_in, test.d_in);
    for (int64_t n = 0; n < test.d_out; ++n) {
      const auto at = static_cast<size_t>(r * test.d_out + n);
      Product p = product(input.w.view, n, seen);
      if (test.has_bias) p.sum += input.bias[static_cast<size_t>(n)];
      if (test.accumulate) p.sum += input.before[at];
      EXPECT_NEAR(y[at], p.sum, 4e-6 * p.size + 1e-6) << test.name();
    }
  }
}

TEST(Reference, LinearIsTheProductOfWhatIsMeant) {
  Random random(1);
  for (const bool exact : {false, true}) {
    for (const FormatId format : all_formats()) {
      for (const auto& [n_rows, wanted] : {std::pair{17, 1}, {3, 50}, {17, 160}, {1, 679}}) {
        compare_linear(random,
                       {.format = format,
                        .n_rows = n_rows,
                        .d_in = legal_cols(format, wanted),
                        .d_out = 151,
                        .has_bias = wanted != 160,
                        .accumulate = wanted == 50},
                       exact);
      }
    }
  }
}

TEST(Reference, OwnLinearKeepsTheNorm) {
  Random random(2);
  CpuLane c("scalar");
  for (const FormatId format : all_formats()) {
    const int64_t cols = 32 * 40;
    const RandomMatrix w(random, format, 200, cols);
    std::vector<float> x = random_floats(random, cols);
    std::vector<float> y(200);
    c.ops().linear(c.lane, {.w = w.view, .x = view_of(x, 1, cols), .y = view_of(y, 1, 200)});
    const std::vector<double> unchanged(x.begin(), x.end());
    double error = 0;
    double norm = 0;
    for (int64_t n = 0; n < 200; ++n) {
      const Product p = product(w.view, n, unchanged);
      error += std::pow(y[static_cast<size_t>(n)] - p.sum, 2);
      norm += p.sum * p.sum;
    }
    EXPECT_LT(error / norm, has_int8_partner(format) ? 2e-4 : 1e-11) << name_of(format);
  }
}

TEST(Reference, HeadLinearMultipliesEachHeadWithItsRows) {
  constexpr int64_t kRows = 5;
  constexpr int64_t kHeads = 3;
  constexpr int64_t kHeadRows = 47;  // of which [first, first + count) take part
  constexpr int64_t kXHead = 111;
  constexpr int64_t kYHead = 103;
  Random random(6);
  for (const FormatId format : all_formats()) {
    const int64_t d = legal_cols(format, 101);
    const RandomMatrix w(random, format, kHeads * kHeadRows, d);
    std::vector<float> x = random_floats(random, kRows * kHeads * kXHead);
    for (const bool exact : {false, true}) {
      CpuLane c("scalar", exact);
      for (const bool transposed : {false, true}) {
        const int64_t first = transposed ? 0 : 30;
        const int64_t count = transposed ? 29 : 17;
        const int64_t n_out = transposed ? d : count;
        std::vector<float> y(kRows * kHeads * kYHead, 77);
        c.ops().head_linear(c.lane, {.w = w.view,
                                     .n_heads = kHeads,
                                     .head_rows = kHeadRows,
                                     .first = first,
                                     .count = count,
                                     .is_transposed = transposed,
                                     .x = view_of(x, kRows, kHeads * kXHead),
                                     .x_head = kXHead,
                                     .y = view_of(y, kRows, kHeads * kYHead),
                                     .y_head = kYHead});
        for (int64_t i = 0; i < kRows * kHeads; ++i) {
          const int64_t row = i % kHeads * kHeadRows + first;
          const float* piece = x.data() + i * kXHead;
          const std::vector<double> seen = activations(format, exact, piece, transposed ? 0 : d);
          for (int64_t o = 0; o < kYHead; ++o) {
            Product p;
            if (o >= n_out) {
              p.sum = 77;  // behind a head's piece nothing is written
            } else if (!transposed) {
              p = product(w.view, row + o, seen);
            } else {
              for (int64_t n = 0; n < count; ++n) {
                const double term = meant(w.view, row + n, o) * piece[n];
                p.sum += term;
                p.size += std::abs(term);
              }
            }
            EXPECT_NEAR(y[static_cast<size_t>(i * kYHead + o)], p.sum, 4e-6 * p.size)
                << name_of(format) << (transposed ? " transposed" : "");
          }
        }
      }
    }
  }
}

TEST(Reference, SlicesOfAMatrixKeepTheirScales) {
  Random random(3);
  CpuLane c("scalar");
  for (const FormatId format : all_formats()) {
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
  for (const FormatId format : all_formats()) {
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
