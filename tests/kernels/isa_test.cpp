// Every operation on every instruction set gives the scalar table's bits, with any number of
// threads.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cases/attention_case.h"
#include "tests/cases/experts_case.h"
#include "tests/cases/linear_case.h"
#include "tests/cases/row_cases.h"
#include "tests/support/cpu_lane.h"

namespace ft::test {
namespace {

void expect_same_bits(const std::vector<float>& expected, const std::vector<float>& actual,
                      const std::string& what) {
  ASSERT_EQ(expected.size(), actual.size());
  int64_t n_different = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    n_different +=
        std::bit_cast<uint32_t>(expected[i]) != std::bit_cast<uint32_t>(actual[i]) ? 1 : 0;
  }
  EXPECT_EQ(n_different, 0) << what;
}

/// The sets that this program is written for: each has a unit of its own.
std::vector<std::string> known_isas() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(FT_SOURCE_DIR "/src/kernels/cpu")) {
    const std::string stem = file.path().stem().string();
    if (stem.starts_with("isa_")) names.push_back(stem.substr(4));
  }
  return names;
}

class IsaTest : public testing::TestWithParam<std::string> {
 protected:
  /// Runs `operation(lane, output)` on scalar and on the set under test.
  template <typename Operation>
  void compare(int64_t n_outputs, const std::string& what, Operation operation) {
    for (const bool exact : {false, true}) {
      std::vector<float> expected(static_cast<size_t>(n_outputs));
      CpuLane scalar("scalar", exact, 1);
      operation(scalar, expected);
      for (const int n_threads : thread_counts()) {
        std::vector<float> actual(static_cast<size_t>(n_outputs));
        CpuLane wide(GetParam(), exact, n_threads);
        operation(wide, actual);
        expect_same_bits(
            expected, actual,
            what + (exact ? " exact, threads: " : ", threads: ") + std::to_string(n_threads));
      }
    }
  }

  /// An input of tests/cases, which knows how it is run.
  template <typename Input>
  void compare(Input& input) {
    for (const Crossovers::Rows& rows : {Crossovers::Rows(), kManyAlways}) {
      compare(input.test.n_outputs(), input.test.name(), [&](CpuLane& c, std::vector<float>& y) {
        std::fill(std::begin(c.lane.crossovers.of), std::end(c.lane.crossovers.of), rows);
        input.run(c.lane, y);
      });
    }
  }

  static constexpr Crossovers::Rows kManyAlways = {.decoded = 0, .tiles = 0};

  /// Numbers of rows that no tile divides, and any.
  std::vector<int64_t> odd_rows() { return {1, 3, 17, static_cast<int64_t>(1 + random_() % 40)}; }

  Random random_{20261130};
};

TEST_P(IsaTest, Linear) {
  for (const FormatId format : all_formats()) {
    for (const int64_t wanted : {1, 16, 40, 96, 255, 257, 1000, 1024, 2080}) {
      for (const int64_t n_rows : odd_rows()) {
        LinearInput input(random_, {.format = format,
                                    .n_rows = n_rows,
                                    .d_in = legal_cols(format, wanted),
                                    .d_out = static_cast<int64_t>(1 + random_() % 70),
                                    .has_bias = random_() % 2 == 0,
                                    .accumulate = random_() % 2 == 0});
        compare(input);
      }
    }
  }
}

TEST_P(IsaTest, LinearOfTinyAndHugeActivations) {
  for (const FormatId format : all_formats()) {
    LinearInput input(random_, {.format = format, .n_rows = 4, .d_in = 128, .d_out = 9});
    for (int i = 0; i < 128; ++i) {
      input.x[static_cast<size_t>(i)] *= 1e-38f;
      input.x[static_cast<size_t>(128 + i)] *= 1e30f;
      input.x[static_cast<size_t>(256 + i)] = i % 2 == 0 ? 0.0f : -0.0f;
    }
    compare(input);
  }
}

TEST_P(IsaTest, ALinearGroupIsItsParts) {
  for (const int64_t n_rows : {1, 3, 17}) {
    for (const FormatId format : all_formats()) {
      const int64_t cols = legal_cols(format, 320);
      const RandomMatrix first(random_, format, 70, cols);
      const RandomMatrix second(random_, format, 3, cols);
      const RandomMatrix other(random_, kIdOf<Bf16>, 21, cols);
      std::vector<float> x = random_floats(random_, n_rows * cols);
      const std::vector<float> bias = random_floats(random_, 70);
      const auto parts_of = [&](std::vector<float>& y) {
        const TensorView view = view_of(x, n_rows, cols);
        float* at = y.data();
        std::vector<LinearArgs> parts;
        for (const WeightView& w : {first.view, second.view, other.view}) {
          parts.push_back({.w = w,
                           .x = view,
                           .y = {.data = at, .rows = n_rows, .cols = w.rows, .stride = w.rows},
                           .bias = w.rows == 70 ? bias.data() : nullptr});
          at += n_rows * w.rows;
        }
        return parts;
      };
      std::vector<float> expected(static_cast<size_t>(n_rows * 94));
      std::vector<float> actual(static_cast<size_t>(n_rows * 94));
      for (const int n_threads : thread_counts()) {
        CpuLane c(GetParam(), false, n_threads);
        for (const LinearArgs& part : parts_of(expected)) c.ops().linear(c.lane, part);
        const std::vector<LinearArgs> parts = parts_of(actual);
        c.ops().linear_group(c.lane, {.parts = parts.data(), .n_parts = 3});
        expect_same_bits(expected, actual, std::string(name_of(format)));
      }
    }
  }
}

TEST_P(IsaTest, Embed) {
  for (const FormatId format : all_formats()) {
    for (const int64_t wanted : {1, 130, 513}) {
      const int64_t cols = legal_cols(format, wanted);
      const RandomMatrix table(random_, format, 150, cols);
      const std::vector<int32_t> tokens = {149, 0, 0, 127, 128, 1, 77};
      const std::string what = std::string(name_of(format)) + " " + std::to_string(cols);
      compare(7 * cols, what, [&](CpuLane& c, std::vector<float>& y) {
        c.ops().embed(c.lane,
                      {.table = table.view, .tokens = tokens.data(), .y = view_of(y, 7, cols)});
      });
    }
  }
}

TEST_P(IsaTest, CopyHeads) {
  for (const int64_t count : {1, 7, 33}) {
    std::vector<float> x = random_floats(random_, 11 * 3 * 40);
    compare(11 * 3 * 50, "count " + std::to_string(count), [&](CpuLane& c, std::vector<float>& y) {
      c.ops().copy_heads(c.lane, {.x = view_of(x, 11, 3 * 40),
                                  .x_head = 40,
                                  .x_first = 5,
                                  .y = view_of(y, 11, 3 * 50),
                                  .y_head = 50,
                                  .y_first = 13,
                                  .n_heads = 3,
                                  .count = count});
    });
  }
}

TEST_P(IsaTest, Experts) {
  for (const FormatId format : all_formats()) {
    for (const int64_t n_rows : odd_rows()) {
      const bool has_bias = random_() % 2 == 0;
      ExpertsInput input(
          random_,
          {.shape = {.format = format,
                     .d_model = legal_cols(format, 96 + static_cast<int64_t>(random_() % 200)),
                     .d_expert = legal_cols(format, 48 + static_cast<int64_t>(random_() % 100)),
                     .has_bias = has_bias},
           .n_rows = n_rows,
           .n_experts = 6,
           .n_active = 3,
           .gate = has_bias ? GateSpec{Activation::kClampedSwiglu, 1.702f, 7} : GateSpec{},
           .elsewhere_every = 5});
      compare(input);
    }
  }
}

TEST_P(IsaTest, HeadLinear) {
  for (const FormatId format : all_formats()) {
    const int64_t d_latent = legal_cols(format, 72);
    const RandomMatrix w(random_, format, 3 * (20 + 12), d_latent);
    std::vector<float> x = random_floats(random_, 5 * 3 * 100);
    for (const bool transposed : {false, true}) {
      const int64_t n_out = transposed ? d_latent : 12;
      compare(5 * 3 * n_out, std::string(name_of(format)), [&](CpuLane& c, std::vector<float>& y) {
        c.ops().head_linear(c.lane, {.w = w.view,
                                     .n_heads = 3,
                                     .head_rows = 32,
                                     .first = transposed ? 0 : 20,
                                     .count = transposed ? 20 : 12,
                                     .is_transposed = transposed,
                                     .x = view_of(x, 5, 300),
                                     .x_head = 100,
                                     .y = view_of(y, 5, 3 * n_out),
                                     .y_head = n_out});
      });
    }
  }
}

TEST_P(IsaTest, Attention) {
  for (const int64_t d : {8, 16, 24, 64, 80}) {
    for (const int64_t n_rows : {1, 3, 17, 130}) {
      for (const KvDType dtype : {KvDType::kBF16, KvDType::kF32, KvDType::kFp8}) {
        for (const bool in_keys : {false, true}) {
          const bool is_f32 = dtype == KvDType::kF32;
          AttentionInput input(random_, {.n_rows = n_rows,
                                         .n_context = 130,
                                         .n_kv_heads = in_keys ? 1 : 2,
                                         .n_heads = 6,
                                         .d_k = d,
                                         .d_v = in_keys ? d - 3 : d,
                                         .values_in_keys = in_keys,
                                         .dtype = dtype,
                                         .window = is_f32 ? 50 : 0,
                                         .has_sinks = is_f32,
                                         .scale = 0.3f});
          compare(input);
        }
      }
    }
  }
}

TEST_P(IsaTest, RowOperations) {
  for (const int64_t d : {2, 6, 30, 32, 48, 130}) {
    NormInput norm(random_, {.n_rows = 7, .n_groups = 3, .d = d, .deviation = 20});
    std::vector<float>& x = norm.x;
    std::vector<float> up = random_floats(random_, 7 * 3 * d, 5);
    const std::vector<float> weights = random_floats(random_, 6);
    const RopeCase rope = {
        .n_rows = 7, .n_heads = 3, .d_head = d, .d_rotary = d, .n_positions = 10};
    RopeCase partly = rope;
    partly.d_rotary = std::max<int64_t>(d / 4 * 2, 2);
    partly.is_interleaved = true;
    RopeInput whole_heads(random_, rope);
    RopeInput parts_of_heads(random_, partly);
    compare(7 * 3 * d, "d " + std::to_string(d), [&](CpuLane& c, std::vector<float>& y) {
      const TensorView view = view_of(y, 7, 3 * d);
      norm.run(c.lane, y);
      c.ops().rope(c.lane, whole_heads.args(y));
      c.ops().rope(c.lane, parts_of_heads.args(y));
      c.ops().add(c.lane, {.y = view, .x = view_of(x, 7, 3 * d), .gate = view_of(up, 7, 1)});
      c.ops().clamp(c.lane, {.x = view, .limit = 30});
      c.ops().gate(c.lane, {.spec = {}, .gate = view, .up = view_of(up, 7, 3 * d)});
      c.ops().gate(c.lane, {.spec = {Activation::kClampedSwiglu, 1.702f, 7},
                            .gate = view,
                            .up = view_of(up, 7, 3 * d)});
      c.ops().combine(c.lane, {.y = view_of(y, 1, 3 * d),
                               .results = view_of(up, 6, 3 * d),
                               .weights = weights.data(),
                               .n_active = 6});
    });
  }
}

TEST_P(IsaTest, Route) {
  for (const Scoring scoring : {Scoring::kSoftmax, Scoring::kSoftmaxOfChosen, Scoring::kSigmoid}) {
    RouteInput input(random_, {.spec = {.n_experts = 48,
                                        .n_active = 5,
                                        .scoring = scoring,
                                        .n_groups = 8,
                                        .n_active_groups = 3,
                                        .renormalise = true,
                                        .scale = 2.5f},
                               .n_rows = 20});
    const auto n_routes = static_cast<size_t>(input.test.n_routes());
    compare(2 * input.test.n_routes(), "scoring", [&](CpuLane& c, std::vector<float>& y) {
      std::vector<int32_t> ids(n_routes);
      input.run(c.lane, ids.data(), y.data());
      for (size_t i = 0; i < n_routes; ++i) y[n_routes + i] = static_cast<float>(ids[i]);
    });
  }
}

TEST(Isa, WhatThisMachineLacksIsSaid) {
  const std::vector<std::string> known = known_isas();
  const std::vector<std::string> available = available_isas();
  EXPECT_THAT(available, testing::IsSubsetOf(known));
  EXPECT_THAT(available, testing::Contains("scalar"));
  for (const std::string& isa : known) {
    if (std::count(available.begin(), available.end(), isa) > 0) continue;
    std::printf("NOT CHECKED: %s: this machine lacks it\n", isa.c_str());
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, IsaTest, testing::ValuesIn(available_isas()),
                         [](const auto& p) { return p.param; });

}  // namespace
}  // namespace ft::test
