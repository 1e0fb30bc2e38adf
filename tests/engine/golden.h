// Tiny checkpoints with the outputs of the reference implementation (fixtures/make_golden.py).
#pragma once

#include <algorithm>
#include <bit>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/file_map.h"
#include "files/safetensors.h"
#include "ft/engine.h"
#include "kernels/cpu/select.h"
#include "tensor/numeric.h"
#include "tests/support/thread_counts.h"

namespace ft::test {

struct Golden {
  std::vector<int32_t> input_ids;    // [T]
  std::vector<float> logits;         // [T, n_vocab]
  std::vector<int32_t> greedy_ids;   // [G]
  std::vector<float> greedy_margin;  // [G]
};

inline std::filesystem::path fixture_dir(const std::string& name) {
  return std::filesystem::path(FT_SOURCE_DIR) / "fixtures" / name;
}

template <typename Stored, typename Value>
std::vector<Value> read_values(const TensorEntry& tensor) {
  std::vector<Value> values(tensor.n_bytes / sizeof(Stored));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<Value>(load<Stored>(tensor.data + i * sizeof(Stored)));
  }
  return values;
}

inline Golden read_golden(const std::filesystem::path& folder) {
  const FileMap file(folder / "golden.safetensors");
  Golden golden;
  for (const TensorEntry& t : read_safetensors(file.bytes(), file.path().string())) {
    if (t.name == "input_ids") golden.input_ids = read_values<int64_t, int32_t>(t);
    if (t.name == "logits") golden.logits = read_values<float, float>(t);
    if (t.name == "greedy_ids") golden.greedy_ids = read_values<int64_t, int32_t>(t);
    if (t.name == "greedy_margin") golden.greedy_margin = read_values<float, float>(t);
  }
  return golden;
}

/// Logits of all positions of `tokens`. [T, n_vocab]
inline std::vector<float> score(const EngineOptions& options, const std::vector<int32_t>& tokens) {
  const auto engine = Engine::load(options);
  const auto session = engine->open_session();
  std::vector<float> all;
  session->score(tokens, [&](int64_t, std::span<const float> logits) {
    all.insert(all.end(), logits.begin(), logits.end());
  });
  return all;
}

inline const std::vector<std::string>& plain_fixtures() {
  static const std::vector<std::string> names = {"qwen3_moe",
                                                 "qwen3_moe_dense_first",
                                                 "qwen3_moe_llama3",
                                                 "qwen2_moe",
                                                 "qwen2_moe_f16_linear",
                                                 "mixtral",
                                                 "mixtral_f32_window",
                                                 "olmoe",
                                                 "gpt_oss",
                                                 "deepseek_v3",
                                                 "deepseek_v3_yarn",
                                                 "glm4_moe",
                                                 "minimax_m2",
                                                 "minimax_m2_partial"};
  return names;
}

inline const std::vector<std::string>& quantised_fixtures() {
  static const std::vector<std::string> names = {"qwen3_moe_nvfp4", "qwen3_moe_nvfp4_ct",
                                                 "qwen3_moe_fp8",   "qwen3_moe_fp8_f32_odd",
                                                 "gpt_oss_mxfp4",   "deepseek_v3_fp4"};
  return names;
}

inline std::vector<std::string> all_fixtures() {
  std::vector<std::string> names = plain_fixtures();
  names.insert(names.end(), quantised_fixtures().begin(), quantised_fixtures().end());
  return names;
}

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  const auto bits = [](float value) { return std::bit_cast<uint32_t>(value); };
  return std::ranges::equal(a, b, {}, bits, bits);
}

/// The logits of `tokens` have the same bits on every instruction set, with any number of threads.
inline void expect_equal_everywhere(EngineOptions options, const std::vector<int32_t>& tokens) {
  options.isa = "scalar";
  options.n_threads = 1;
  const std::vector<float> expected = score(options, tokens);
  for (const std::string& isa : available_isas()) {
    options.isa = isa;
    for (const int n_threads : thread_counts()) {
      options.n_threads = n_threads;
      EXPECT_TRUE(same_bits(expected, score(options, tokens))) << isa << ", " << n_threads;
    }
  }
}

}  // namespace ft::test
