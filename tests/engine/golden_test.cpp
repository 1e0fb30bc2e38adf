// Logits against the reference implementation, for every fixture. Bounds are those that the project
// promises in docs/FORMATS.md.
#include "tests/engine/golden.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ft::test {
namespace {

struct Difference {
  double largest = 0;            // of any logit
  int64_t n_good_positions = 0;  // squared error over squared norm at most 1e-3
  int64_t n_positions = 0;
  std::vector<std::string> wrong_best;  // greedy steps whose best token differs
};

/// The reference's continuation is fed in, so that one close call does not change what follows.
Difference compare(const Golden& golden, const std::vector<float>& logits, double least_margin) {
  const size_t n_vocab = golden.logits.size() / golden.input_ids.size();
  Difference d;
  d.n_positions = static_cast<int64_t>(golden.input_ids.size());
  for (size_t t = 0; t < golden.input_ids.size(); ++t) {
    double error = 0;
    double norm = 0;
    for (size_t v = 0; v < n_vocab; ++v) {
      const double expected = golden.logits[t * n_vocab + v];
      const double difference = logits[t * n_vocab + v] - expected;
      d.largest = std::max(d.largest, std::isnan(difference) ? HUGE_VAL : std::abs(difference));
      error += difference * difference;
      norm += expected * expected;
    }
    d.n_good_positions += error <= 1e-3 * norm ? 1 : 0;
  }
  for (size_t g = 0; g < golden.greedy_ids.size(); ++g) {
    if (golden.greedy_margin[g] < least_margin) continue;
    const float* row = logits.data() + (golden.input_ids.size() - 1 + g) * n_vocab;
    const auto best = std::max_element(row, row + n_vocab) - row;
    if (best != golden.greedy_ids[g]) d.wrong_best.push_back("step " + std::to_string(g));
  }
  return d;
}

Difference run(const std::string& name, bool exact, double least_margin) {
  const Golden golden = read_golden(fixture_dir(name));
  std::vector<int32_t> tokens = golden.input_ids;
  tokens.insert(tokens.end(), golden.greedy_ids.begin(), golden.greedy_ids.end() - 1);
  EngineOptions options;
  options.model_dir = fixture_dir(name).string();
  options.exact = exact;
  options.kv_dtype = KvDType::kF32;
  const Difference d = compare(golden, score(options, tokens), least_margin);
  std::printf("%-24s %-5s largest error %.2e, %lld of %lld positions within 1e-3 of the norm\n",
              name.c_str(), exact ? "exact" : "own", d.largest,
              static_cast<long long>(d.n_good_positions), static_cast<long long>(d.n_positions));
  return d;
}

class PlainGolden : public testing::TestWithParam<std::string> {};
class QuantisedGolden : public testing::TestWithParam<std::string> {};

TEST_P(PlainGolden, ExactLogitsAreTheReferences) {
  const Difference d = run(GetParam(), true, 0.02);
  EXPECT_LE(d.largest, 1e-4);
  EXPECT_THAT(d.wrong_best, testing::IsEmpty());
}

TEST_P(PlainGolden, OwnArithmeticIsClose) {
  const Difference d = run(GetParam(), false, 0.15);
  EXPECT_LE(d.largest, 5e-3);
  EXPECT_THAT(d.wrong_best, testing::IsEmpty());
}

TEST_P(QuantisedGolden, ExactLogitsAreTheReferences) {
  const Difference d = run(GetParam(), true, 0.02);
  EXPECT_LE(d.largest, 1e-4);
  EXPECT_THAT(d.wrong_best, testing::IsEmpty());
}

TEST_P(QuantisedGolden, OwnArithmeticIsClose) {
  const Difference d = run(GetParam(), false, 0.15);
  EXPECT_GE(static_cast<double>(d.n_good_positions), 0.9 * static_cast<double>(d.n_positions));
  EXPECT_THAT(d.wrong_best, testing::IsEmpty());
}

const auto by_name = [](const auto& param) { return param.param; };
INSTANTIATE_TEST_SUITE_P(Fixtures, PlainGolden, testing::ValuesIn(plain_fixtures()), by_name);
INSTANTIATE_TEST_SUITE_P(Fixtures, QuantisedGolden, testing::ValuesIn(quantised_fixtures()),
                         by_name);

}  // namespace
}  // namespace ft::test
