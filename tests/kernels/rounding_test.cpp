// What may differ from scalar: multiplications that round activations to the type of the weights.
#include <bit>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "tests/cases/experts_case.h"
#include "tests/cases/linear_case.h"
#include "tests/support/cpu_lane.h"

namespace ft::test {
namespace {

// Squared error over squared norm: docs/FORMATS.md.
constexpr double kBound = 1e-4;

/// The sets that round, by the same table.
bool rounds(const std::string& isa) {
  return isa == "avx512_bf16" || isa == "amx";
}

class RoundingTest : public testing::TestWithParam<std::string> {
 protected:
  template <typename Input>
  static std::vector<float> run(const std::string& isa, Input& input, bool may_round) {
    CpuLane c(isa);
    c.lane.may_round = may_round;
    std::vector<float> y(static_cast<size_t>(input.test.n_outputs()));
    input.run(c.lane, y);
    return y;
  }

  /// Within the bound, and not all bits the same where a set rounds; else all are.
  template <typename Input>
  static void expect_close(Input& input) {
    const std::vector<float> expected = run("scalar", input, false);
    const std::vector<float> rounded = run(GetParam(), input, true);
    if (!rounds(GetParam())) {
      EXPECT_EQ(expected, rounded) << input.test.name();
    }
    double error = 0, norm = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      const double difference = static_cast<double>(rounded[i]) - static_cast<double>(expected[i]);
      error += difference * difference;
      norm += static_cast<double>(expected[i]) * static_cast<double>(expected[i]);
    }
    EXPECT_LE(error, kBound * norm) << input.test.name();
    if (rounds(GetParam()) && norm > 0) {
      EXPECT_GT(error, 0) << input.test.name();
    }
  }

  static ExpertsCase experts_case(int64_t n_rows, int64_t d_model, int64_t d_expert) {
    return {.shape = {.format = kIdOf<Bf16>,
                      .d_model = d_model,
                      .d_expert = d_expert,
                      .has_bias = n_rows % 2 == 0},
            .n_rows = n_rows,
            .n_experts = 7,
            .n_active = 3,
            .elsewhere_every = 5};
  }

  Random random_{20261130};
};

TEST_P(RoundingTest, LinearStaysWithinTheBound) {
  for (const int64_t cols : {1, 8, 31, 33, 64, 257, 1000, 2080}) {
    for (const int64_t n_rows : {1, 3, 6, 16, 17, 65, 130}) {
      LinearInput input(random_, {.format = kIdOf<Bf16>,
                                  .n_rows = n_rows,
                                  .d_in = cols,
                                  .d_out = static_cast<int64_t>(1 + random_() % 70),
                                  .has_bias = n_rows % 2 == 0,
                                  .accumulate = n_rows % 3 == 0});
      expect_close(input);
    }
  }
}

TEST_P(RoundingTest, ExpertsStayWithinTheBound) {
  for (const auto& [d_model, d_expert] : {std::pair(40, 24), {256, 96}, {96, 330}}) {
    for (const int64_t n_rows : {1, 2, 17, 90}) {
      ExpertsInput input(random_, experts_case(n_rows, d_model, d_expert));
      expect_close(input);
    }
  }
}

TEST_P(RoundingTest, ARowsResultDoesNotDependOnTheOthers) {
  constexpr int64_t kIn = 200, kOut = 45, kRows = 37;
  LinearInput all(random_, {.format = kIdOf<Bf16>, .n_rows = kRows, .d_in = kIn, .d_out = kOut});
  const std::vector<float> together = run(GetParam(), all, true);
  CpuLane c(GetParam());
  c.lane.may_round = true;
  for (int64_t r = 0; r < kRows; ++r) {
    std::vector<float> alone(kOut);
    LinearArgs args = all.args(alone);
    args.x = view_of(all.x, kRows, kIn).slice(r, 1);
    args.y = view_of(alone, 1, kOut);
    c.ops().linear(c.lane, args);
    for (int64_t n = 0; n < kOut; ++n) {
      EXPECT_EQ(std::bit_cast<uint32_t>(alone[static_cast<size_t>(n)]),
                std::bit_cast<uint32_t>(together[static_cast<size_t>(r * kOut + n)]))
          << "row " << r << ", output " << n;
    }
  }
}

TEST_P(RoundingTest, OtherFormatsKeepTheirBits) {
  for (const FormatId format : all_formats()) {
    if (format == kIdOf<Bf16>) continue;
    LinearInput input(random_, {.format = format, .n_rows = 19, .d_in = 256, .d_out = 21});
    EXPECT_EQ(run("scalar", input, false), run(GetParam(), input, true)) << name_of(format);
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, RoundingTest, testing::ValuesIn(available_isas()),
                         [](const auto& p) { return p.param; });

TEST_P(RoundingTest, WhatIsKeptIsNotRounded) {
  LinearInput input(random_, {.format = kIdOf<Bf16>, .n_rows = 19, .d_in = 256, .d_out = 21});
  CpuLane c(GetParam());
  c.lane.may_round = true;
  std::vector<float> y(static_cast<size_t>(input.test.n_outputs()));
  LinearArgs args = input.args(y);
  args.keeps_x = true;
  c.ops().linear(c.lane, args);
  EXPECT_EQ(run("scalar", input, false), y);
}

TEST(Crossovers, AreWhereTheFasterKernelStaysFaster) {
  const std::vector<int64_t> tried = {2, 3, 4, 8};
  const auto least = [&](std::set<int64_t> faster) {
    return least_rows(tried, [&](int64_t n) { return faster.count(n) > 0; });
  };
  EXPECT_EQ(least({2, 3, 4, 8}), 2);
  EXPECT_EQ(least({4, 8}), 4);
  EXPECT_EQ(least({2, 8}), 8);
  EXPECT_EQ(least({}), 9);
  EXPECT_EQ(least({2, 3, 4}), 9);
}

TEST(Crossovers, AreMeasuredForTheFormatsThatAreAskedOnly) {
  for (const std::string& isa : available_isas()) {
    CpuLane c(isa);
    const FormatId formats[] = {kIdOf<Bf16>, kIdOf<Mxfp4>};
    const Crossovers measured = measure_crossovers(c.lane, formats);
    EXPECT_EQ(measured.at(kIdOf<F16>).decoded, Crossovers::Rows().decoded);
    EXPECT_EQ(measured.at(kIdOf<F16>).tiles, Crossovers::Rows().tiles);
    // Sixteen rows share decoded weights faster than one after the other, on whatever machine.
    if (c.ops().decodes) {
      EXPECT_LE(measured.at(kIdOf<Bf16>).decoded, 16) << isa;
    }
  }
}

}  // namespace
}  // namespace ft::test
