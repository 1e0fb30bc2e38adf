// `ft bench decode` and models of random weights, as a user meets them.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/changed_model.h"
#include "tests/support/process.h"

namespace ft::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string fixture(const std::string& name) {
  return std::string(FT_SOURCE_DIR) + "/fixtures/" + name;
}

json bench(const std::string& model, const std::vector<std::string>& more) {
  std::vector<std::string> call{"bench",         "decode", "--json",       "--quiet",
                                "--load-format", "dummy",  "--model",      model,
                                "--device",      "host",   "--strategies", "cpu"};
  call.insert(call.end(), more.begin(), more.end());
  const Outcome outcome = run(call);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  return json::parse(outcome.out);
}

TEST(Bench, FiguresOfARunAgreeWithEachOther) {
  const json report = bench(fixture("gpt_oss_mxfp4"),
                            {"--prompt", "20", "--tokens", "6", "--repeat", "4", "--threads", "1"});
  EXPECT_FALSE(report["machine"]["cpu_name"].get<std::string>().empty());
  EXPECT_EQ(report["model"]["load_format"], "dummy");
  EXPECT_EQ(report["model"]["architecture"], "gpt_oss");
  EXPECT_EQ(report["model"]["n_session_context"], 26);
  EXPECT_GE(report["model"]["bank_huge_page_share"], 0);
  EXPECT_LE(report["model"]["bank_huge_page_share"], 1);
  ASSERT_EQ(report["runs"].size(), 1u);
  const json& run = report["runs"][0];
  EXPECT_EQ(run["strategy"], "cpu");
  EXPECT_EQ(run["device"], "host");
  EXPECT_EQ(run["n_prompt"], 20);
  EXPECT_EQ(run["n_tokens"], 6);
  EXPECT_EQ(run["n_threads"], 1);
  EXPECT_EQ(run["step_weight_bytes"], report["model"]["step_bytes"]);
  const double step_bytes = run["step_bytes"];
  EXPECT_EQ(step_bytes,
            run["step_weight_bytes"].get<double>() + run["step_kv_bytes"].get<double>());
  ASSERT_EQ(run["repetitions"].size(), 4u);
  for (const json& row : run["repetitions"]) {
    const double bound = step_bytes / (row["read_gbps"].get<double>() * 1e9);
    EXPECT_NEAR(row["share_of_bound"], bound * row["tokens_per_s"].get<double>(), 1e-9);
  }
  for (const char* figure :
       {"tokens_per_s", "prefill_tokens_per_s", "share_of_bound", "read_gbps"}) {
    std::vector<double> values;
    for (const json& row : run["repetitions"]) values.push_back(row[figure]);
    std::sort(values.begin(), values.end());
    EXPECT_GT(values.front(), 0) << figure;
    EXPECT_EQ(run["spread"][figure]["min"], values[0]) << figure;
    EXPECT_EQ(run["spread"][figure]["max"], values[3]) << figure;
    EXPECT_NEAR(run[figure], (values[1] + values[2]) / 2, 1e-9 * values[3]) << figure;
    EXPECT_EQ(run["spread"][figure]["median"], run[figure]) << figure;
  }
}

TEST(Bench, DenseWeightsInQ8CountAsWhatAStepReads) {
  const std::vector<std::string> sizes{"--prompt", "4", "--tokens", "2", "--repeat", "1"};
  std::vector<std::string> in_q8 = sizes;
  in_q8.insert(in_q8.end(), {"--dense-dtype", "q8"});
  const json file = bench(fixture("qwen3_moe"), sizes);
  const json q8 = bench(fixture("qwen3_moe"), in_q8);
  const auto of_q8 = q8["runs"][0]["step_weight_bytes"].get<uint64_t>();
  EXPECT_LT(of_q8, file["runs"][0]["step_weight_bytes"].get<uint64_t>());
  EXPECT_EQ(of_q8, q8["model"]["step_bytes"].get<uint64_t>());
  EXPECT_EQ(q8["model"]["formats"][1]["name"], "q8");
}

/// Bytes of keys and values that a layer reads in the mean step behind a prompt.
double mean_kv_bytes(int64_t n_prompt, int64_t n_tokens, int64_t window, double position_bytes) {
  double sum = 0;
  for (int64_t n = n_prompt + 1; n <= n_prompt + n_tokens; ++n) {
    sum += static_cast<double>(window > 0 ? std::min(n, window) : n) * position_bytes;
  }
  return sum / static_cast<double>(n_tokens);
}

TEST(Bench, AStepReadsTheKeysAndValuesThatItsAttentionSees) {
  const std::vector<std::string> sizes{"--prompt", "30", "--tokens", "8", "--repeat", "1"};
  const json config = json::parse(read_file(fixture("gpt_oss_mxfp4") + "/config.json"));
  const double of_position =
      2.0 * config["num_key_value_heads"].get<double>() * config["head_dim"].get<double>() * 2;
  const int64_t window = config["sliding_window"];
  ASSERT_LT(window, 30);  // or the test shows nothing
  double expected = 0;
  for (const json& type : config["layer_types"]) {
    expected += mean_kv_bytes(30, 8, type == "sliding_attention" ? window : 0, of_position);
  }
  EXPECT_NEAR(bench(fixture("gpt_oss_mxfp4"), sizes)["runs"][0]["step_kv_bytes"], expected, 1);

  const json latent = bench(fixture("deepseek_v3"), sizes);
  EXPECT_NEAR(latent["runs"][0]["step_kv_bytes"],
              mean_kv_bytes(30, 8, 0, latent["model"]["kv_bytes_per_token"]), 1);
}

TEST(Bench, PeopleGetATableAndSeeItCome) {
  const Outcome outcome =
      run({"bench", "decode", "--prompt", "5", "--tokens", "2", "--repeat", "2"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("strategy "), HasSubstr("\ncpu       host ")));
  const std::string table = outcome.out.substr(0, outcome.out.find("experts: "));
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 2);
  EXPECT_EQ(table.find('\n'), table.size() / 2 - 1);  // lines of one length
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("\nexperts: "), HasSubstr(" % of it in huge pages\n")));
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("cpu, 1 of 2"), HasSubstr("cpu, 2 of 2")));
}

TEST(Bench, PartsOfAStartMakeUpTheWhole) {
  for (const bool is_cold : {false, true}) {
    std::vector<std::string> call{"bench",   "start",   "--json",
                                  "--quiet", "--model", fixture("olmoe")};
    if (is_cold) call.push_back("--cold");
    const Outcome outcome = run(call);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    const json report = json::parse(outcome.out);
    const json& start = report["start"];
    EXPECT_EQ(start["is_cold"], is_cold);
    EXPECT_EQ(start["n_prompt"], 16);
    std::vector<std::string> names;
    double seconds = 0, share = 0;
    for (const json& part : start["parts"]) {
      names.push_back(part["name"]);
      EXPECT_GE(part["seconds"], 0);
      seconds += part["seconds"].get<double>();
      share += part["share"].get<double>();
    }
    EXPECT_EQ(names, (std::vector<std::string>{"open", "experts", "rest", "prompt", "choice"}));
    EXPECT_NEAR(start["seconds"], seconds, 1e-9);
    EXPECT_NEAR(share, 1, 1e-9);
    EXPECT_EQ(start["parts"][1]["n_bytes"], report["model"]["bank_bytes"]);
    EXPECT_GT(start["prompt_again_seconds"], 0);
    EXPECT_GT(start["files_bytes"], report["model"]["file_bytes"]);
    EXPECT_LE(start["files_cached_bytes"], start["files_bytes"]);
    EXPECT_GE(start["own_rss_bytes"], report["model"]["bank_bytes"]);
    EXPECT_GE(start["peak_rss_bytes"], start["own_rss_bytes"]);
  }
}

TEST(Bench, FilesThatNoLoadReadsAreLeftAlone) {
  const ChangedModel model("olmoe");
  const std::vector<std::string> call{
      "bench", "start", "--json", "--quiet", "--model", model.folder().string(), "--cold"};
  const json before = json::parse(run(call).out)["start"];
  std::ofstream(model.folder() / "notes") << std::string(100'000, 'x');
  std::filesystem::permissions(model.folder() / "notes", std::filesystem::perms::none);
  const Outcome outcome = run(call);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["start"]["files_bytes"], before["files_bytes"]);
}

TEST(Bench, PeopleGetATableOfTheStart) {
  const Outcome outcome = run({"bench", "start", "--quiet", "--prompt", "5"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* line : {"part ", "\nopen, ", "\ncopy experts ", "\nto the first token ",
                           "\nmemory: ", "; in the page cache before: "}) {
    EXPECT_THAT(outcome.out, HasSubstr(line));
  }
  const Outcome dummy = run({"bench", "start", "--load-format", "dummy"});
  EXPECT_EQ(dummy.status, 0) << dummy.err;
  EXPECT_THAT(dummy.out, Not(HasSubstr("files: ")));
}

TEST(Bench, WhatThereIsNotIsRefusedWithWhatThereIs) {
  const auto refusal = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "bench");
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 2) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  };
  EXPECT_THAT(refusal({}), HasSubstr("decode"));
  EXPECT_THAT(refusal({"fly"}), AllOf(HasSubstr("'fly'"), HasSubstr("decode")));
  EXPECT_THAT(refusal({"decode", "--strategies", "cpu,fly"}),
              AllOf(HasSubstr("'fly'"), HasSubstr("there is: cpu")));
  EXPECT_THAT(refusal({"decode", "--strategies", "cpu,"}), HasSubstr("''"));
  EXPECT_THAT(refusal({"decode", "--strategies", "cpu,cpu"}), HasSubstr("twice"));
  EXPECT_THAT(refusal({"decode", "--device", "fly"}),
              AllOf(HasSubstr("'fly'"), HasSubstr("there is: host")));
  EXPECT_THAT(refusal({"decode", "--prompt", "60", "--tokens", "5", "--context", "64"}),
              HasSubstr("need a context of 65"));
  EXPECT_THAT(refusal({"start", "--cold", "--load-format", "dummy"}), HasSubstr("reads no files"));
  EXPECT_THAT(refusal({"start", "--prompt", "4000"}), HasSubstr("4000"));
  EXPECT_THAT(refusal({"decode", "--prompt", "2048"}), HasSubstr("2048"));
  EXPECT_THAT(refusal({"decode", "--tokens", "0"}), HasSubstr("--tokens"));
}

TEST(Dummy, NeedsNothingButAConfiguration) {
  Folder folder;
  const std::string config = read_file(fixture("qwen3_moe") + "/config.json");
  write_file(folder.path() + "/config.json", config);
  const std::vector<std::string> model{"--load-format", "dummy", "--model", folder.path()};
  const auto with = [&](std::vector<std::string> call, const std::vector<std::string>& more) {
    call.insert(call.end(), model.begin(), model.end());
    call.insert(call.end(), more.begin(), more.end());
    return run(call);
  };
  EXPECT_EQ(run({"inspect", folder.path()}).status, 2);
  const json report = json::parse(with({"inspect", "--json"}, {}).out);
  EXPECT_EQ(report["model"]["load_format"], "dummy");
  EXPECT_TRUE(report["text"]["tokenizer"].is_null());
  EXPECT_THAT(with({"inspect"}, {}).out, HasSubstr("made up"));

  const Outcome logits = with({"logits", "--tokens", "1,2,3", "--greedy", "4"}, {});
  EXPECT_EQ(logits.status, 0) << logits.err;
  EXPECT_EQ(with({"logits", "--tokens", "1,2,3", "--greedy", "4"}, {"--dummy-seed", "0"}).out,
            logits.out);
  EXPECT_NE(with({"logits", "--tokens", "1,2,3", "--greedy", "4"}, {"--dummy-seed", "1"}).out,
            logits.out);
}

TEST(Dummy, TextIsRefusedInWords) {
  for (const std::vector<std::string>& call :
       {std::vector<std::string>{"run", "--load-format", "dummy", "Hello"},
        {"shell", "--load-format", "dummy"}}) {
    const Outcome outcome = run(call);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("no tokenizer"), HasSubstr("ft logits --tokens")));
    EXPECT_EQ(outcome.out, "");
  }
}

TEST(Dummy, OptionsThatMakeNoSenseAreRefused) {
  EXPECT_THAT(run({"inspect", "--load-format", "fly"}).err, HasSubstr("auto or dummy, not 'fly'"));
  EXPECT_EQ(run({"inspect", "--load-format", "auto"}).status, 0);
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, {"--load-format", "auto"}}) {
    std::vector<std::string> call{"inspect", "--dummy-seed", "1"};
    call.insert(call.end(), more.begin(), more.end());
    const Outcome outcome = run(call);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.err, HasSubstr("no effect without --load-format dummy"));
  }
}

}  // namespace
}  // namespace ft::test
