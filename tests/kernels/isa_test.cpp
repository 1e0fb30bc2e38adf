// Every operation on every instruction set gives the scalar table's bits, with any number of
// threads.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <filesystem>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/cpu_lane.h"
#include "tests/support/random_weights.h"

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

  Random random_{20261130};
};

TEST_P(IsaTest, Linear) {
  for (const FormatId format : all_formats()) {
    for (const int64_t wanted : {1, 16, 40, 96, 255, 257, 1000, 1024, 2080}) {
      const int64_t cols = legal_cols(format, wanted);
      const auto n_rows = static_cast<int64_t>(1 + random_() % 35);
      const auto n_out = static_cast<int64_t>(1 + random_() % 70);
      const RandomMatrix w(random_, format, n_out, cols);
      std::vector<float> x = random_floats(random_, n_rows * cols);
      const std::vector<float> bias = random_floats(random_, n_out);
      const std::string what = std::string(name_of(format)) + " " + std::to_string(cols);
      compare(n_rows * n_out, what, [&](CpuLane& c, std::vector<float>& y) {
        const LinearArgs args = {.w = w.view,
                                 .x = view_of(x, n_rows, cols),
                                 .y = view_of(y, n_rows, n_out),
                                 .bias = bias.data()};
        c.ops().linear(c.lane, args);
      });
    }
  }
}

TEST_P(IsaTest, LinearOfTinyAndHugeActivations) {
  for (const FormatId format : all_formats()) {
    const RandomMatrix w(random_, format, 9, 128);
    std::vector<float> x = random_floats(random_, 4 * 128);
    for (int i = 0; i < 128; ++i) {
      x[static_cast<size_t>(i)] *= 1e-38f;
      x[static_cast<size_t>(128 + i)] *= 1e30f;
      x[static_cast<size_t>(256 + i)] = i % 2 == 0 ? 0.0f : -0.0f;
    }
    compare(4 * 9, std::string(name_of(format)), [&](CpuLane& c, std::vector<float>& y) {
      c.ops().linear(c.lane, {.w = w.view, .x = view_of(x, 4, 128), .y = view_of(y, 4, 9)});
    });
  }
}

TEST_P(IsaTest, LinearThatAccumulates) {
  for (const FormatId format : all_formats()) {
    const int64_t cols = legal_cols(format, 333);
    const RandomMatrix w(random_, format, 21, cols);
    std::vector<float> x = random_floats(random_, 19 * cols);
    const std::vector<float> bias = random_floats(random_, 21);
    const std::vector<float> before = random_floats(random_, 19 * 21);
    compare(19 * 21, std::string(name_of(format)), [&](CpuLane& c, std::vector<float>& y) {
      y = before;
      c.ops().linear(c.lane, {.w = w.view,
                              .x = view_of(x, 19, cols),
                              .y = view_of(y, 19, 21),
                              .bias = bias.data(),
                              .accumulate = true});
    });
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
    const ExpertShape shape = {
        .format = format,
        .d_model = legal_cols(format, 96 + static_cast<int64_t>(random_() % 200)),
        .d_expert = legal_cols(format, 48 + static_cast<int64_t>(random_() % 100)),
        .has_bias = random_() % 2 == 0};
    const ExpertLayout layout(shape);
    constexpr int64_t kExperts = 6;
    constexpr int64_t kActive = 3;
    const auto n_rows = static_cast<int64_t>(1 + random_() % 40);
    const std::vector<uint8_t> records = random_records(random_, layout, kExperts);
    std::vector<float> x = random_floats(random_, n_rows * shape.d_model);
    std::vector<int32_t> ids(static_cast<size_t>(n_rows * kActive));
    for (int64_t i = 0; i < n_rows * kActive; ++i) {
      ids[static_cast<size_t>(i)] = static_cast<int32_t>((i / kActive + i % kActive) % kExperts) -
                                    (random_() % 5 == 0 ? 7 : 0);
    }
    const GateSpec gate =
        shape.has_bias ? GateSpec{Activation::kClampedSwiglu, 1.702f, 7} : GateSpec{};
    compare(n_rows * kActive * shape.d_model, std::string(name_of(format)),
            [&](CpuLane& c, std::vector<float>& y) {
              c.ops().experts(c.lane, {.layout = &layout,
                                       .records = records.data(),
                                       .n_experts = kExperts,
                                       .gate = gate,
                                       .x = view_of(x, n_rows, shape.d_model),
                                       .ids = ids.data(),
                                       .n_active = kActive,
                                       .results = view_of(y, n_rows * kActive, shape.d_model)});
            });
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
  constexpr int64_t kHeads = 6;
  constexpr int64_t kPositions = 130;
  const std::vector<int32_t> pages = {2, 0, 1};
  std::vector<int32_t> positions(kPositions);
  std::iota(positions.begin(), positions.end(), 0);
  const std::vector<const int32_t*> tables(kPositions, pages.data());
  const RowPositions rows = {kPositions, positions.data(), tables.data(), kPositions};
  for (const int64_t d : {8, 16, 24, 64, 80}) {
    for (const auto& [dtype, in_keys] : {std::pair{KvDType::kBF16, false},
                                         {KvDType::kF32, false},
                                         {KvDType::kFp8, false},
                                         {KvDType::kBF16, true},
                                         {KvDType::kF32, true},
                                         {KvDType::kFp8, true}}) {
      KvLayer kv = {.n_kv_heads = in_keys ? 1 : 2,
                    .d_k = d,
                    .d_v = in_keys ? d - 3 : d,
                    .values_in_keys = in_keys,
                    .dtype = dtype};
      kv.page_bytes = kv_page_bytes(kv);
      const bool is_f32 = dtype == KvDType::kF32;
      std::vector<float> k = random_floats(random_, kPositions * kv.n_kv_heads * d);
      std::vector<float> v = random_floats(random_, kPositions * kv.n_kv_heads * kv.d_v);
      std::vector<float> q = random_floats(random_, kPositions * kHeads * d);
      const std::vector<float> sinks = random_floats(random_, kHeads);
      compare(kPositions * kHeads * kv.d_v, "d " + std::to_string(d),
              [&](CpuLane& c, std::vector<float>& y) {
                std::vector<uint8_t> memory(static_cast<size_t>(3 * kv.page_bytes));
                KvLayer own = kv;
                own.pages = memory.data();
                c.ops().store_kv(c.lane, {.kv = own,
                                          .rows = rows,
                                          .k = view_of(k, kPositions, kv.n_kv_heads * d),
                                          .v = view_of(v, kPositions, kv.n_kv_heads * kv.d_v)});
                c.ops().attention(c.lane, {.kv = own,
                                           .rows = rows,
                                           .q = view_of(q, kPositions, kHeads * d),
                                           .out = view_of(y, kPositions, kHeads * kv.d_v),
                                           .n_heads = kHeads,
                                           .scale = 0.3f,
                                           .window = is_f32 ? 50 : 0,
                                           .sinks = is_f32 ? sinks.data() : nullptr});
              });
    }
  }
}

TEST_P(IsaTest, RowOperations) {
  for (const int64_t d : {2, 6, 30, 32, 48, 130}) {
    std::vector<float> x = random_floats(random_, 7 * 3 * d, 20);
    std::vector<float> up = random_floats(random_, 7 * 3 * d, 5);
    const std::vector<float> weight = random_floats(random_, d);
    const std::vector<float> cos_sin = random_floats(random_, 10 * d);
    const std::vector<int32_t> positions = {0, 3, 9, 1, 1, 2, 8};
    compare(7 * 3 * d, "d " + std::to_string(d), [&](CpuLane& c, std::vector<float>& y) {
      const TensorView view = view_of(y, 7, 3 * d);
      c.ops().norm(
          c.lane,
          {.x = view_of(x, 7, 3 * d), .y = view, .weight = weight.data(), .d = d, .eps = 1e-6f});
      for (const bool interleaved : {false, true}) {
        const int64_t d_rotary = interleaved ? std::max<int64_t>(d / 4 * 2, 2) : d;
        c.ops().rope(c.lane, {.x = view,
                              .n_heads = 3,
                              .d_head = d,
                              .first = d - d_rotary,
                              .d_rotary = d_rotary,
                              .is_interleaved = interleaved,
                              .cos_sin = cos_sin.data(),
                              .positions = positions.data()});
      }
      c.ops().add(c.lane, {.y = view, .x = view_of(x, 7, 3 * d), .gate = view_of(up, 7, 1)});
      c.ops().clamp(c.lane, {.x = view, .limit = 30});
      c.ops().gate(c.lane, {.spec = {}, .gate = view, .up = view_of(up, 7, 3 * d)});
      c.ops().gate(c.lane, {.spec = {Activation::kClampedSwiglu, 1.702f, 7},
                            .gate = view,
                            .up = view_of(up, 7, 3 * d)});
      c.ops().combine(c.lane, {.y = view_of(y, 1, 3 * d),
                               .results = view_of(up, 6, 3 * d),
                               .weights = cos_sin.data(),
                               .n_active = 6});
    });
  }
}

TEST_P(IsaTest, Route) {
  for (const Scoring scoring : {Scoring::kSoftmax, Scoring::kSoftmaxOfChosen, Scoring::kSigmoid}) {
    const RouterSpec spec = {.n_experts = 48,
                             .n_active = 5,
                             .scoring = scoring,
                             .n_groups = 8,
                             .n_active_groups = 3,
                             .renormalise = true,
                             .scale = 2.5f};
    std::vector<float> logits = random_floats(random_, 20 * 48, 3);
    const std::vector<float> bias = random_floats(random_, 48, 0.1f);
    compare(20 * 5 * 2, "scoring", [&](CpuLane& c, std::vector<float>& y) {
      std::vector<int32_t> ids(20 * 5);
      c.ops().route(c.lane, {.spec = spec,
                             .logits = view_of(logits, 20, 48),
                             .bias = bias.data(),
                             .ids = ids.data(),
                             .weights = y.data()});
      for (size_t i = 0; i < ids.size(); ++i) y[100 + i] = static_cast<float>(ids[i]);
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
