// The scalar table's operations on rows against plain formulations in double precision. Rows are
// longer than what is asked for, and what lies behind must stay.
#include <cmath>
#include <complex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/kernels/plain.h"
#include "tests/support/cpu_lane.h"

namespace ft::test {
namespace {

constexpr float kUntouched = 77;

/// Rows of `cols` random values, a few more floats apart.
struct Rows {
  std::vector<float> values;
  TensorView view;

  Rows(Random& random, int64_t n_rows, int64_t cols, float deviation = 1)
      : values(static_cast<size_t>(n_rows * (cols + 3)), kUntouched) {
    view = {.data = values.data(), .rows = n_rows, .cols = cols, .stride = cols + 3};
    for (int64_t r = 0; r < n_rows; ++r) {
      const std::vector<float> row = random_floats(random, cols, deviation);
      std::copy(row.begin(), row.end(), view.row(r));
    }
  }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  void expect_gaps_untouched() const {
    for (int64_t r = 0; r < view.rows; ++r) {
      for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(view.row(r)[view.cols + i], kUntouched);
    }
  }
};

TEST(ReferenceRows, NormDividesEachGroupByItsRootMeanSquare) {
  Random random(1);
  CpuLane c("scalar");
  for (const int64_t d : {1, 7, 33, 130}) {
    for (const float size : {1e-4f, 1.0f, 300.0f}) {
      Rows x(random, 9, 3 * d, size);
      Rows y(random, 9, 3 * d);
      const std::vector<float> weight = random_floats(random, d);
      c.ops().norm(c.lane,
                   {.x = x.view, .y = y.view, .weight = weight.data(), .d = d, .eps = 1e-5f});
      for (int64_t r = 0; r < 9; ++r) {
        for (int64_t g = 0; g < 3; ++g) {
          const float* group = x.view.row(r) + g * d;
          double squares = 0;
          for (int64_t i = 0; i < d; ++i) squares += double(group[i]) * group[i];
          const double root = std::sqrt(squares / static_cast<double>(d) + double(1e-5f));
          for (int64_t i = 0; i < d; ++i) {
            const double expected = group[i] / root * weight[static_cast<size_t>(i)];
            EXPECT_NEAR(y.view.row(r)[g * d + i], expected, 1e-6 * std::abs(expected));
          }
        }
      }
      y.expect_gaps_untouched();
      c.ops().norm(c.lane,
                   {.x = x.view, .y = x.view, .weight = weight.data(), .d = d, .eps = 1e-5f});
      EXPECT_EQ(x.values, y.values) << "in place";
    }
  }
}

TEST(ReferenceRows, RopeTurnsPairsByTheAnglesOfTheirPosition) {
  constexpr int64_t kHeads = 3;
  constexpr int64_t kHead = 23;
  const std::vector<int32_t> positions = {0, 12, 5, 5, 1};
  Random random(2);
  CpuLane c("scalar");
  for (const int64_t d_rotary : {2, 6, 22}) {
    for (const bool interleaved : {false, true}) {
      const int64_t half = d_rotary / 2;
      const int64_t first = kHead - d_rotary;
      const auto angle = [&](int64_t position, int64_t pair) {
        return static_cast<double>(position) / (1.0 + 2.5 * static_cast<double>(pair));
      };
      std::vector<float> table;
      for (int64_t p = 0; p < 13; ++p) {
        for (int64_t i = 0; i < half; ++i)
          table.push_back(static_cast<float>(std::cos(angle(p, i))));
        for (int64_t i = 0; i < half; ++i)
          table.push_back(static_cast<float>(std::sin(angle(p, i))));
      }
      Rows x(random, 5, kHeads * kHead);
      const std::vector<float> before = x.values;
      c.ops().rope(c.lane, {.x = x.view,
                            .n_heads = kHeads,
                            .d_head = kHead,
                            .first = first,
                            .d_rotary = d_rotary,
                            .is_interleaved = interleaved,
                            .cos_sin = table.data(),
                            .positions = positions.data()});
      x.expect_gaps_untouched();
      for (int64_t r = 0; r < 5; ++r) {
        for (int64_t h = 0; h < kHeads; ++h) {
          const float* was = before.data() + r * x.view.stride + h * kHead;
          const float* is = x.view.row(r) + h * kHead;
          for (int64_t i = 0; i < first; ++i) EXPECT_EQ(is[i], was[i]);
          for (int64_t i = 0; i < half; ++i) {
            const int64_t a = first + (interleaved ? 2 * i : i);
            const int64_t b = first + (interleaved ? 2 * i + 1 : half + i);
            const auto turned = std::complex<double>(was[a], was[b]) *
                                std::polar(1.0, angle(positions[static_cast<size_t>(r)], i));
            EXPECT_NEAR(is[a], turned.real(), 1e-6);
            EXPECT_NEAR(is[b], turned.imag(), 1e-6);
          }
        }
      }
    }
  }
}

TEST(ReferenceRows, EmbedReadsTheRowsOfItsTokens) {
  Random random(3);
  CpuLane c("scalar");
  const std::vector<int32_t> tokens = {256, 0, 128, 127, 255, 0};
  for (const FormatId format : all_formats()) {
    const int64_t cols = legal_cols(format, 301);
    const RandomMatrix table(random, format, 257, cols);
    Rows y(random, 6, cols);
    c.ops().embed(c.lane, {.table = table.view, .tokens = tokens.data(), .y = y.view});
    y.expect_gaps_untouched();
    for (int64_t r = 0; r < 6; ++r) {
      for (int64_t k = 0; k < cols; ++k) {
        const double expected = meant(table.view, tokens[static_cast<size_t>(r)], k);
        // Two roundings; scale 0 of mxfp4 counts as 0 and not as 2^-127.
        EXPECT_NEAR(y.view.row(r)[k], expected, 0x1p-23 * std::abs(expected) + 0x1p-124)
            << name_of(format);
      }
    }
  }
}

TEST(ReferenceRows, CombineAddsTheWeightedResults) {
  Random random(4);
  CpuLane c("scalar");
  for (const int64_t n_active : {1, 3, 9}) {
    for (const int64_t d : {1, 37, 129}) {
      Rows y(random, 5, d);
      Rows results(random, 5 * n_active, d);
      const std::vector<float> weights = random_floats(random, 5 * n_active);
      const std::vector<float> before = y.values;
      c.ops().combine(
          c.lane,
          {.y = y.view, .results = results.view, .weights = weights.data(), .n_active = n_active});
      y.expect_gaps_untouched();
      for (int64_t r = 0; r < 5; ++r) {
        for (int64_t i = 0; i < d; ++i) {
          double expected = before[static_cast<size_t>(r * y.view.stride + i)];
          double size = std::abs(expected);
          for (int64_t route = r * n_active; route < (r + 1) * n_active; ++route) {
            const double term =
                double(weights[static_cast<size_t>(route)]) * results.view.row(route)[i];
            expected += term;
            size += std::abs(term);
          }
          EXPECT_NEAR(y.view.row(r)[i], expected, 1e-6 * size);
        }
      }
    }
  }
}

TEST(ReferenceRows, AddWithAndWithoutAGate) {
  Random random(5);
  CpuLane c("scalar");
  for (const bool is_gated : {false, true}) {
    for (const int64_t d : {1, 37, 129}) {
      Rows y(random, 11, d);
      Rows x(random, 11, d);
      Rows gate(random, 11, 1, 4);
      const std::vector<float> before = y.values;
      c.ops().add(c.lane, {.y = y.view, .x = x.view, .gate = is_gated ? gate.view : TensorView{}});
      y.expect_gaps_untouched();
      for (int64_t r = 0; r < 11; ++r) {
        const double weight = is_gated ? sigmoid(gate.view.row(r)[0]) : 1;
        for (int64_t i = 0; i < d; ++i) {
          const double was = before[static_cast<size_t>(r * y.view.stride + i)];
          const double term = weight * x.view.row(r)[i];
          EXPECT_NEAR(y.view.row(r)[i], was + term, 1e-6 * (std::abs(was) + std::abs(term)));
        }
      }
    }
  }
}

TEST(ReferenceRows, ClampKeepsWhatLiesWithinTheLimit) {
  Random random(6);
  CpuLane c("scalar");
  Rows x(random, 9, 37, 2);
  const std::vector<float> before = x.values;
  c.ops().clamp(c.lane, {.x = x.view, .limit = 1.5f});
  x.expect_gaps_untouched();
  for (int64_t r = 0; r < 9; ++r) {
    for (int64_t i = 0; i < 37; ++i) {
      const float was = before[static_cast<size_t>(r * x.view.stride + i)];
      EXPECT_EQ(x.view.row(r)[i], std::clamp(was, -1.5f, 1.5f));
    }
  }
}

TEST(ReferenceRows, CopyHeadsMovesAPieceOfEachHead) {
  Random random(7);
  CpuLane c("scalar");
  Rows x(random, 9, 5 * 23);
  Rows y(random, 9, 5 * 31);
  const std::vector<float> before = y.values;
  c.ops().copy_heads(c.lane, {.x = x.view,
                              .x_head = 23,
                              .x_first = 4,
                              .y = y.view,
                              .y_head = 31,
                              .y_first = 11,
                              .n_heads = 5,
                              .count = 17});
  y.expect_gaps_untouched();
  for (int64_t r = 0; r < 9; ++r) {
    for (int64_t i = 0; i < 5 * 31; ++i) {
      const int64_t within = i % 31 - 11;
      const bool is_copied = within >= 0 && within < 17;
      EXPECT_EQ(y.view.row(r)[i], is_copied ? x.view.row(r)[i / 31 * 23 + 4 + within]
                                            : before[static_cast<size_t>(r * y.view.stride + i)]);
    }
  }
}

}  // namespace
}  // namespace ft::test
