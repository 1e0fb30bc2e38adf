// Dense weights in q8: answers stay close and do not depend on the machine, steps read less, memory is
// as planned.
#include <algorithm>
#include <cstdio>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/opened_model.h"
#include "kernels/cpu/select.h"
#include "tests/engine/golden.h"
#include "tests/support/thread_counts.h"

namespace ft::test {
namespace {

EngineOptions options_for(const std::string& name, DenseDType dense_dtype) {
  EngineOptions options;
  options.model_dir = fixture_dir(name).string();
  options.kv_dtype = KvDType::kF32;
  options.dense_dtype = dense_dtype;
  return options;
}

double relative_error(std::span<const float> seen, std::span<const float> expected) {
  double error = 0;
  double norm = 0;
  for (size_t i = 0; i < seen.size(); ++i) {
    const double difference = static_cast<double>(seen[i]) - expected[i];
    error += difference * difference;
    norm += static_cast<double>(expected[i]) * expected[i];
  }
  return error / norm;
}

class DenseInQ8 : public testing::TestWithParam<std::string> {};

/// Rounding weights, and activations, to a 127th of a block's largest adds some 2e-5 of each product's
/// energy, and a logit is behind 10 to 30 products. Not all positions can be close: where two experts
/// are nearly tied, a router that moves a little chooses the other one.
TEST_P(DenseInQ8, LogitsStayCloseAtMostPositions) {
  const Golden golden = read_golden(fixture_dir(GetParam()));
  const std::vector<int32_t>& tokens = golden.input_ids;
  const std::vector<float> file = score(options_for(GetParam(), DenseDType::kFile), tokens);
  const std::vector<float> q8 = score(options_for(GetParam(), DenseDType::kQ8), tokens);
  EXPECT_FALSE(same_bits(file, q8));
  const size_t n_vocab = file.size() / tokens.size();
  std::vector<double> errors;
  for (size_t t = 0; t < tokens.size(); ++t) {
    errors.push_back(relative_error(std::span(q8).subspan(t * n_vocab, n_vocab),
                                    std::span(file).subspan(t * n_vocab, n_vocab)));
  }
  std::sort(errors.begin(), errors.end());
  const double median = errors[errors.size() / 2];
  std::printf("%-24s squared error over squared norm: median %.1e\n", GetParam().c_str(), median);
  EXPECT_LE(median, 2e-3);
}

TEST_P(DenseInQ8, BitsAreTheSameOnEveryInstructionSet) {
  const std::vector<int32_t> tokens = {1, 17, 42, 3, 99};
  EngineOptions options = options_for(GetParam(), DenseDType::kQ8);
  expect_equal_everywhere(options, tokens);
}

TEST_P(DenseInQ8, StepsReadLessAndTheCopiesAreCounted) {
  const ModelReport file = inspect_model(options_for(GetParam(), DenseDType::kFile));
  const EngineOptions options = options_for(GetParam(), DenseDType::kQ8);
  const ModelReport q8 = inspect_model(options);
  EXPECT_LT(q8.step_bytes, file.step_bytes);
  EXPECT_EQ(q8.dense_bytes, file.dense_bytes);  // of the file
  const Placement p = open_planned(options, 1).placement;
  const Placement before = open_planned(options_for(GetParam(), DenseDType::kFile), 1).placement;
  EXPECT_EQ(before.q8_bytes, 0u);
  EXPECT_GT(p.q8_bytes, 0u);
  EXPECT_EQ(p.allocated_bytes(), before.allocated_bytes() + p.q8_bytes);
  EXPECT_LT(p.dense_bytes, before.dense_bytes);
  EXPECT_THAT(describe(p), testing::HasSubstr("for dense weights in q8"));
}

INSTANTIATE_TEST_SUITE_P(Fixtures, DenseInQ8,
                         testing::Values("qwen3_moe", "qwen3_moe_dense_first", "qwen2_moe",
                                         "qwen2_moe_f16_linear", "mixtral", "mixtral_f32_window",
                                         "gpt_oss", "deepseek_v3", "glm4_moe", "minimax_m2",
                                         "qwen3_moe_nvfp4", "gpt_oss_mxfp4"),
                         [](const auto& p) { return p.param; });

/// All projections and the head: bf16 becomes 34 bytes for 32 values. Counted by hand from the sizes of
/// the fixture: 4 layers, width 64, 4 heads of 16 and 2 for keys and values, 256 tokens.
TEST(DenseDTypes, AStepReadsTheBytesOfQ8) {
  const uint64_t n_values = 4 * (2 * 64 * 64 + 2 * 64 * 32) + 256 * 64;
  const ModelReport file = inspect_model(options_for("qwen3_moe", DenseDType::kFile));
  const ModelReport q8 = inspect_model(options_for("qwen3_moe", DenseDType::kQ8));
  EXPECT_EQ(file.step_bytes - q8.step_bytes, n_values * 2 - n_values / 32 * 34);
}

TEST(DenseDTypes, ATiedHeadGetsACopyAndTheEmbeddingStays) {
  const EngineOptions options = options_for("qwen3_moe_dense_first", DenseDType::kQ8);
  const OpenedModel opened = open_planned(options, 1);
  const ModelCard& card = opened.model->card();
  const uint64_t embedding_bytes = static_cast<uint64_t>(card.n_vocab * card.d_model) * 2;
  EXPECT_GE(opened.placement.dense_bytes, embedding_bytes);
  EXPECT_EQ(card.dense_bytes - card.idle_bytes, opened.placement.dense_bytes);
  EXPECT_EQ(opened.model->dense_bank().source_bytes(), card.idle_bytes + embedding_bytes);
}

TEST(DenseDTypes, TheLoadSaysWhatItMakes) {
  EngineOptions options = options_for("qwen3_moe", DenseDType::kQ8);
  std::vector<std::string> notes;
  options.on_note = [&](const std::string& note) { notes.push_back(note); };
  std::vector<LoadProgress> progress;
  options.on_progress = [&](const LoadProgress& now) { progress.push_back(now); };
  Engine::load(options);
  EXPECT_THAT(notes, testing::Contains(testing::StartsWith("q8: 17 dense matrices of ")));
  EXPECT_EQ(progress.back().done_bytes, progress.back().total_bytes);
  EXPECT_TRUE(std::is_sorted(
      progress.begin(), progress.end(),
      [](const LoadProgress& a, const LoadProgress& b) { return a.done_bytes < b.done_bytes; }));
}

TEST(DenseDTypes, ADummyIsTurnedToo) {
  EngineOptions options = options_for("qwen3_moe", DenseDType::kQ8);
  options.load_format = LoadFormat::kDummy;
  const Placement p = open_planned(options, 1).placement;
  EXPECT_EQ(p.allocated_bytes(), p.total_bytes());
  const std::vector<int32_t> tokens = {1, 2, 3, 4, 5, 6, 7};
  const std::vector<float> q8 = score(options, tokens);
  options.dense_dtype = DenseDType::kFile;
  EXPECT_LT(relative_error(q8, score(options, tokens)), 1e-2);
}

}  // namespace
}  // namespace ft::test
