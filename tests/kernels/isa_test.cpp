// Every operation on every instruction set gives the scalar table's bits.
#include <cstring>

#include <gtest/gtest.h>

#include "tests/support/cpu_lane.h"
#include "tests/support/random_weights.h"

namespace ft::test {
namespace {

const std::vector<FormatId> kFormats = {id_of<F32>,      id_of<F16>,   id_of<Bf16>,
                                        id_of<Fp8Block>, id_of<Mxfp4>, id_of<Nvfp4>};

/// Columns that a format can have, near `wanted`.
int64_t legal_cols(FormatId format, int64_t wanted) {
  const int64_t unit = format == id_of<Mxfp4> ? 32 : format == id_of<Nvfp4> ? 16 : 1;
  return std::max(wanted / unit * unit, unit);
}

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

class IsaTest : public testing::TestWithParam<std::string> {
 protected:
  /// Runs `operation(lane, output)` on scalar and on the set under test, from the same random
  /// state.
  template <typename Operation>
  void compare(int64_t n_outputs, const std::string& what, Operation operation) {
    for (const bool exact : {false, true}) {
      std::vector<float> expected(static_cast<size_t>(n_outputs));
      std::vector<float> actual(static_cast<size_t>(n_outputs));
      CpuLane scalar("scalar", exact, 1);
      CpuLane wide(GetParam(), exact, 2);
      operation(scalar, expected);
      operation(wide, actual);
      expect_same_bits(expected, actual, what + (exact ? " exact" : ""));
    }
  }

  Random random_{20261130};
};

TEST_P(IsaTest, Linear) {
  for (const FormatId format : kFormats) {
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
  for (const FormatId format : kFormats) {
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

TEST_P(IsaTest, Experts) {
  for (const FormatId format : kFormats) {
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
  for (const FormatId format : kFormats) {
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
  constexpr int64_t kKvHeads = 2;
  constexpr int64_t kHeads = 6;
  for (const int64_t d : {8, 16, 24, 64, 80}) {
    for (const bool is_f32 : {false, true}) {
      const int64_t n_positions = 130;
      std::vector<float> k = random_floats(random_, n_positions * kKvHeads * d);
      std::vector<float> v = random_floats(random_, n_positions * kKvHeads * d);
      std::vector<float> q = random_floats(random_, n_positions * kHeads * d);
      const std::vector<float> sinks = random_floats(random_, kHeads);
      const std::vector<int32_t> pages = {2, 0, 1};
      std::vector<int32_t> positions;
      for (int32_t p = 0; p < n_positions; ++p) positions.push_back(p);
      const std::vector<const int32_t*> tables(static_cast<size_t>(n_positions), pages.data());
      const RowPositions rows = {n_positions, positions.data(), tables.data(), n_positions};
      compare(n_positions * kHeads * d, "d " + std::to_string(d),
              [&](CpuLane& c, std::vector<float>& y) {
                std::vector<uint8_t> memory(
                    static_cast<size_t>(3 * kPageTokens * kKvHeads * 2 * d * 4));
                const KvLayer kv = {.pages = memory.data(),
                                    .page_bytes = kPageTokens * kKvHeads * 2 * d * (is_f32 ? 4 : 2),
                                    .n_kv_heads = kKvHeads,
                                    .d_k = d,
                                    .d_v = d,
                                    .is_f32 = is_f32};
                c.ops().store_kv(c.lane, {.kv = kv,
                                          .rows = rows,
                                          .k = view_of(k, n_positions, kKvHeads * d),
                                          .v = view_of(v, n_positions, kKvHeads * d)});
                c.ops().attention(c.lane, {.kv = kv,
                                           .rows = rows,
                                           .q = view_of(q, n_positions, kHeads * d),
                                           .out = view_of(y, n_positions, kHeads * d),
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
        c.ops().rope(c.lane, {.x = view,
                              .n_heads = 3,
                              .d_head = d,
                              .d_rotary = d,
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

INSTANTIATE_TEST_SUITE_P(Sets, IsaTest, testing::ValuesIn(available_isas()),
                         [](const auto& p) { return p.param; });

}  // namespace
}  // namespace ft::test
