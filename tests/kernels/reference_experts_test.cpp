// The scalar table's router and experts against plain formulations in double precision.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cases/experts_case.h"
#include "tests/kernels/plain.h"
#include "tests/support/cpu_lane.h"

namespace ft::test {
namespace {

/// y[n] = W x + bias, with the activations as the format's arithmetic sees them.
std::vector<float> multiplied(const WeightView& w, const float* bias, bool exact,
                              const std::vector<float>& x) {
  const std::vector<double> seen = activations(w.format, exact, x.data(), w.cols);
  std::vector<float> y;
  for (int64_t n = 0; n < w.rows; ++n) {
    y.push_back(static_cast<float>(product(w, n, seen).sum + (bias == nullptr ? 0 : bias[n])));
  }
  return y;
}

/// Rows whose products with `w` are about one, where gates bend most.
std::vector<float> fitting_rows(Random& random, const WeightView& w, int64_t n_rows) {
  std::vector<float> x = random_floats(random, n_rows * w.cols);
  double squares = 0;
  for (const float y : multiplied(w, nullptr, true, x)) squares += double(y) * y;
  const auto size = static_cast<float>(std::sqrt(squares / static_cast<double>(w.rows)));
  for (float& value : x) value /= size;
  return x;
}

std::vector<float> plain_expert(const ExpertLayout& layout, const uint8_t* record,
                                const GateSpec& gate, bool exact, const std::vector<float>& x) {
  const auto apply = [&](ExpertMatrix m, const std::vector<float>& in) {
    return multiplied(layout.matrix(record, m), layout.bias(record, m), exact, in);
  };
  std::vector<float> hidden = apply(ExpertMatrix::kGate, x);
  const std::vector<float> up = apply(ExpertMatrix::kUp, x);
  for (size_t i = 0; i < up.size(); ++i) {
    hidden[i] = static_cast<float>(gated(gate, hidden[i], up[i]));
  }
  return apply(ExpertMatrix::kDown, hidden);
}

/// Some of the routes go elsewhere, and nobody asks for the last expert.
void compare_experts(Random& random, const ExpertsCase& test, bool exact) {
  ExpertsInput input(random, test);
  const ExpertLayout& layout = input.layout;
  const auto d = static_cast<size_t>(test.shape.d_model);
  input.x =
      fitting_rows(random, layout.matrix(input.records.data(), ExpertMatrix::kGate), test.n_rows);
  for (int32_t& id : input.order) id = id == test.n_experts - 1 ? 0 : id;
  constexpr float kUntouched = 77;
  std::vector<float> y(static_cast<size_t>(test.n_outputs()), kUntouched);
  CpuLane c("scalar", exact);
  input.run(c.lane, y);
  for (int64_t route = 0; route < test.n_routes(); ++route) {
    const float* actual = y.data() + static_cast<size_t>(route) * d;
    const int32_t id = input.ids()[route];
    if (id < 0) {
      EXPECT_EQ(std::count(actual, actual + d, kUntouched), static_cast<int64_t>(d));
      continue;
    }
    const float* row = input.x.data() + static_cast<size_t>(route / test.n_active) * d;
    const uint8_t* record =
        input.records.data() + static_cast<uint64_t>(id) * layout.record_bytes();
    const std::vector<float> expected =
        plain_expert(layout, record, test.gate, exact, {row, row + d});
    double error = 0;
    double norm = 0;
    for (size_t i = 0; i < d; ++i) {
      error += std::pow(actual[i] - double(expected[i]), 2);
      norm += std::pow(double(expected[i]), 2);
    }
    // A hidden value that is nearly half way between two int8 numbers may become either.
    const bool may_flip = has_int8_partner(test.shape.format) && !exact;
    EXPECT_LE(error, (may_flip ? 1e-5 : 1e-11) * norm)
        << test.name() << (exact ? " exact" : "") << " route " << route;
  }
}

TEST(ReferenceExperts, EachRouteIsItsExpertAppliedToItsRow) {
  Random random(1);
  for (const FormatId format : all_formats()) {
    for (const int64_t n_rows : {1, 3, 17, 37}) {  // 37: more of a kind than are multiplied at once
      const ExpertsCase silu = {.shape = {.format = format,
                                          .d_model = legal_cols(format, 141),
                                          .d_expert = legal_cols(format, 67)},
                                .n_rows = n_rows,
                                .n_experts = 5,
                                .n_active = 3,
                                .elsewhere_every = 4};
      ExpertsCase swiglu = silu;
      swiglu.shape.has_bias = true;
      swiglu.gate = {Activation::kClampedSwiglu, 1.702f, 0.8f};
      for (const bool exact : {false, true}) {
        compare_experts(random, silu, exact);
        compare_experts(random, swiglu, exact);
      }
    }
  }
}

struct Chosen {
  std::vector<int32_t> ids;
  std::vector<double> weights;
  double lead = HUGE_VAL;  // least distance between what was taken and what was not
};

/// The positions of the `n` largest values, best first; ties to the lower.
std::vector<size_t> best_of(const std::vector<double>& values, int64_t n, double& lead) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return values[a] > values[b]; });
  for (size_t i = 0; i < static_cast<size_t>(n) && i + 1 < order.size(); ++i) {
    lead = std::min(lead, values[order[i]] - values[order[i + 1]]);
  }
  order.resize(static_cast<size_t>(n));
  return order;
}

/// Group-limited choice as DeepSeek-V3's report has it: a group counts as much as its two best
/// experts, and experts of other groups than the best ones are out of the question.
Chosen plain_route(const RouterSpec& spec, const float* logits, const float* bias) {
  const auto n = static_cast<size_t>(spec.n_experts);
  const size_t group_size = n / static_cast<size_t>(spec.n_groups);
  std::vector<double> scores(logits, logits + n);
  double total = 0;
  for (double& score : scores) total += std::exp(score);
  for (double& score : scores) {
    if (spec.scoring == Scoring::kSigmoid) score = sigmoid(score);
    if (spec.scoring == Scoring::kSoftmax) score = std::exp(score) / total;
  }
  std::vector<double> choice = scores;
  for (size_t e = 0; e < n; ++e) choice[e] += bias[e];
  std::vector<double> groups;
  for (size_t first = 0; first < n; first += group_size) {
    std::vector<double> group(choice.begin() + static_cast<int64_t>(first),
                              choice.begin() + static_cast<int64_t>(first + group_size));
    std::sort(group.rbegin(), group.rend());
    groups.push_back(group_size > 1 ? group[0] + group[1] : group[0]);
  }
  Chosen chosen;
  std::vector<double> kept(n, -HUGE_VAL);
  for (const size_t g : best_of(groups, spec.n_active_groups, chosen.lead)) {
    for (size_t e = g * group_size; e < (g + 1) * group_size; ++e) kept[e] = choice[e];
  }
  double sum = 0;
  for (const size_t e : best_of(kept, spec.n_active, chosen.lead)) {
    chosen.ids.push_back(static_cast<int32_t>(e));
    chosen.weights.push_back(scores[e]);
    if (spec.scoring == Scoring::kSoftmaxOfChosen) chosen.weights.back() = std::exp(scores[e]);
    sum += chosen.weights.back();
  }
  for (double& weight : chosen.weights) {
    if (spec.scoring == Scoring::kSoftmaxOfChosen || spec.renormalise) weight /= sum;
    weight *= spec.scale;
  }
  return chosen;
}

TEST(ReferenceExperts, RouterKeepsToTheBestGroups) {
  constexpr int64_t kRows = 61;
  Random random(2);
  CpuLane c("scalar");
  int n_limited = 0;  // rows where the groups change the choice
  for (const Scoring scoring : {Scoring::kSigmoid, Scoring::kSoftmax, Scoring::kSoftmaxOfChosen}) {
    for (const auto& [n_groups, n_active_groups, size] :
         {std::tuple{3, 2, 7}, {5, 1, 9}, {7, 3, 1}, {9, 4, 3}, {1, 1, 13}}) {
      RouterSpec spec = {.n_experts = n_groups * size,
                         .n_active = std::min(n_active_groups * size, 5),
                         .scoring = scoring,
                         .n_groups = n_groups,
                         .n_active_groups = n_active_groups,
                         .renormalise = n_groups != 5,
                         .scale = 2.5f};
      std::vector<float> logits = random_floats(random, kRows * spec.n_experts);
      const std::vector<float> bias = random_floats(random, spec.n_experts, 0.05f);
      std::vector<int32_t> ids(static_cast<size_t>(kRows * spec.n_active));
      std::vector<float> weights(ids.size());
      c.ops().route(c.lane, {.spec = spec,
                             .logits = view_of(logits, kRows, spec.n_experts),
                             .bias = bias.data(),
                             .ids = ids.data(),
                             .weights = weights.data()});
      RouterSpec free = spec;
      free.n_groups = free.n_active_groups = 1;
      for (int64_t r = 0; r < kRows; ++r) {
        const float* row = logits.data() + r * spec.n_experts;
        const Chosen expected = plain_route(spec, row, bias.data());
        if (expected.lead < 1e-6) continue;  // too close to call in float32
        n_limited += expected.ids != plain_route(free, row, bias.data()).ids ? 1 : 0;
        for (int64_t i = 0; i < spec.n_active; ++i) {
          const auto at = static_cast<size_t>(r * spec.n_active + i);
          const double weight = expected.weights[static_cast<size_t>(i)];
          EXPECT_EQ(ids[at], expected.ids[static_cast<size_t>(i)]);
          EXPECT_NEAR(weights[at], weight, 2e-6 * weight);
        }
      }
    }
  }
  EXPECT_GT(n_limited, 100);
}

TEST(ReferenceExperts, TiesGoToTheLowerGroupAndTheLowerExpert) {
  CpuLane c("scalar");
  std::vector<float> logits(15, 0.25f);
  logits[14] = 9;  // alone in its group, so that two lower ones weigh as much only by their ties
  logits[12] = logits[13] = -9;
  const std::vector<float> bias(15, 0.0f);
  int32_t ids[4];
  float weights[4];
  c.ops().route(c.lane, {.spec = {.n_experts = 15,
                                  .n_active = 4,
                                  .scoring = Scoring::kSigmoid,
                                  .n_groups = 5,
                                  .n_active_groups = 2},
                         .logits = view_of(logits, 1, 15),
                         .bias = bias.data(),
                         .ids = ids,
                         .weights = weights});
  // sigmoid(9) + sigmoid(-9) = 1 is less than 2 sigmoid(0.25): the best expert of all is left out.
  EXPECT_THAT(ids, testing::ElementsAre(0, 1, 2, 3));
}

TEST(ReferenceExperts, RouterFindsAWinnerAtEveryPlace) {
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

TEST(ReferenceExperts, SelectionBiasStaysOutOfTheWeights) {
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

}  // namespace
}  // namespace ft::test
