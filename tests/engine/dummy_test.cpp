// Models of random weights: every architecture and scheme runs from its config.json alone, with
// numbers of a sane size and the memory that was planned.
#include <unistd.h>

#include <cmath>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "engine/opened_model.h"
#include "files/dummy_tensors.h"
#include "models/registry.h"
#include "tests/engine/golden.h"
#include "tests/support/temporary_folder.h"

namespace ft::test {
namespace {

namespace fs = std::filesystem;

/// A folder that holds a copy of another's config.json and nothing else.
class ConfigAlone {
 public:
  explicit ConfigAlone(const fs::path& from) {
    fs::copy_file(from / "config.json", folder_.path() / "config.json");
  }
  EngineOptions options(uint64_t seed = 0) const {
    EngineOptions options;
    options.model_dir = folder_.path().string();
    options.load_format = LoadFormat::kDummy;
    options.dummy_seed = seed;
    options.n_context = 64;
    return options;
  }
  void change(const std::function<void(nlohmann::json&)>& change) const {
    nlohmann::json config = nlohmann::json::parse(folder_.read("config.json"));
    change(config);
    folder_.write("config.json", config.dump());
  }

 private:
  TemporaryFolder folder_;
};

const std::vector<int32_t> kTokens = {1, 17, 42, 3, 99, 64, 5, 17, 80, 2, 2, 31};

double deviation(std::span<const float> row) {
  double sum = 0;
  double square = 0;
  for (const float value : row) {
    sum += value;
    square += static_cast<double>(value) * value;
  }
  const auto n = static_cast<double>(row.size());
  return std::sqrt(square / n - sum / n * (sum / n));
}

class DummyModel : public testing::TestWithParam<std::string> {};

TEST_P(DummyModel, LogitsAreFiniteAndNeitherVanishNorExplode) {
  const ConfigAlone model(fixture_dir(GetParam()));
  const std::vector<float> logits = score(model.options(), kTokens);
  const size_t n_vocab = logits.size() / kTokens.size();
  for (size_t t = 0; t < kTokens.size(); ++t) {
    const double spread = deviation(std::span(logits).subspan(t * n_vocab, n_vocab));
    EXPECT_GT(spread, 0.5) << t;  // a NaN fails both
    EXPECT_LT(spread, 2) << t;
  }
  const auto row = [&](size_t t) {
    return std::vector<float>(logits.begin() + static_cast<ptrdiff_t>(t * n_vocab),
                              logits.begin() + static_cast<ptrdiff_t>((t + 1) * n_vocab));
  };
  EXPECT_FALSE(same_bits(row(0), row(1)));
  EXPECT_TRUE(same_bits(logits, score(model.options(), kTokens)));
  EXPECT_FALSE(same_bits(logits, score(model.options(1), kTokens)));
}

TEST_P(DummyModel, DenseWeightsTakeTheMemoryThatWasPlanned) {
  const ConfigAlone model(fixture_dir(GetParam()));
  const OpenedModel opened = open_planned(model.options(), 1);
  const Placement& p = opened.placement;
  EXPECT_FALSE(p.is_dense_mapped);
  EXPECT_EQ(p.dense_bytes, opened.checkpoint->dummy()->own_bytes());
  EXPECT_EQ(p.total_bytes(), p.allocated_bytes());
  EXPECT_EQ(p.total_bytes(), p.bank_bytes + p.dense_bytes + p.kv_bytes + p.scratch_bytes +
                                 p.table_bytes + p.logits_bytes + p.copied_bytes);
  EXPECT_THAT(describe(p), testing::HasSubstr("made up"));
}

INSTANTIATE_TEST_SUITE_P(Fixtures, DummyModel, testing::ValuesIn(all_fixtures()),
                         [](const auto& param) { return param.param; });

TEST(DummyModels, EveryArchitectureIsAmongTheFixtures) {
  std::vector<std::string> seen;
  for (const std::string& name : all_fixtures()) {
    seen.push_back(inspect_model(ConfigAlone(fixture_dir(name)).options()).architecture);
  }
  for (const std::string& name : known_architectures()) {
    EXPECT_THAT(seen, testing::Contains(name));
  }
}

/// What a file of the scheme takes, the dummy takes: a quantised fixture was written by others.
TEST(DummyModels, SizesAreThoseOfARealCheckpointOfTheScheme) {
  for (const char* name : {"qwen3_moe", "qwen3_moe_nvfp4", "qwen3_moe_nvfp4_ct", "qwen3_moe_fp8",
                           "qwen3_moe_fp8_f32_odd", "gpt_oss_mxfp4"}) {
    const ConfigAlone model(fixture_dir(name));
    EngineOptions real = model.options();
    real.load_format = LoadFormat::kAuto;
    real.model_dir = fixture_dir(name).string();
    const ModelReport a = inspect_model(model.options());
    const ModelReport b = inspect_model(real);
    EXPECT_EQ(a.experts_format, b.experts_format) << name;
    EXPECT_EQ(a.bank_bytes, b.bank_bytes) << name;
    EXPECT_EQ(a.n_params, b.n_params) << name;
    EXPECT_EQ(a.dense_bytes, b.dense_bytes) << name;
    EXPECT_EQ(a.step_bytes, b.step_bytes) << name;
    EXPECT_EQ(a.host_bytes, b.host_bytes) << name;
  }
}

TEST(DummyModels, ShapesForBenchmarksOpen) {
  const fs::path shapes = fs::path(FT_SOURCE_DIR) / "bench/shapes";
  int n_shapes = 0;
  for (const auto& entry : fs::directory_iterator(shapes)) {
    if (!entry.is_directory()) continue;
    const ConfigAlone model(entry.path());
    const OpenedModel opened = open_planned(model.options(), 2);
    EXPECT_EQ(opened.placement.dense_bytes, opened.checkpoint->dummy()->own_bytes());
    EXPECT_GT(report_of(opened).bank_bytes, 1'000'000'000u) << entry.path();
    ++n_shapes;
  }
  EXPECT_EQ(n_shapes, 5);
}

uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t n_pages = 0;
  uint64_t n_resident = 0;
  file >> n_pages >> n_resident;
  return n_resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

TEST(DummyModels, ALoadHoldsNothingTwiceAndAnInspectionHoldsNothing) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "a sanitizer's own memory cannot be told apart";
#endif
  const ConfigAlone model(fs::path(FT_SOURCE_DIR) / "bench/shapes/qwen3moe-mini");
  model.change([](nlohmann::json& config) {
    config["num_hidden_layers"] = 1;
    config["vocab_size"] = 20000;
  });
  const uint64_t before = resident_bytes();
  const ModelReport report = inspect_model(model.options());
  const uint64_t inspected = resident_bytes();
  const auto engine = Engine::load(model.options());
  const uint64_t loaded = resident_bytes();
  constexpr uint64_t kSlack = 24 << 20;  // huge pages are taken whole
  EXPECT_LT(inspected, before + kSlack);
  EXPECT_GE(loaded, before + report.bank_bytes + report.dense_bytes);
  EXPECT_LE(loaded, before + report.host_bytes + kSlack);
}

TEST(DummyModels, WhatAConfigCannotHaveIsRefused) {
  const ConfigAlone model(fixture_dir("qwen3_moe_nvfp4"));
  model.change([](nlohmann::json& config) { config["moe_intermediate_size"] = 24; });
  EXPECT_THROW(inspect_model(model.options()), Error);
  EngineOptions nowhere = model.options();
  nowhere.model_dir = "/no/such/folder";
  EXPECT_THROW(inspect_model(nowhere), Error);
}

}  // namespace
}  // namespace ft::test
