// `ft inspect` on the demo model, against its own files.
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/process.h"

namespace ft::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Inspect, JsonAgreesWithTheConfiguration) {
  const Outcome outcome = run({"inspect", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json report = json::parse(outcome.out);
  const json config = json::parse(read_file(kDemo + "/config.json"));
  const json& model = report["model"];
  EXPECT_EQ(model["architecture"], config["model_type"]);
  EXPECT_EQ(model["n_layers"], config["num_hidden_layers"]);
  EXPECT_EQ(model["n_experts"], config["num_local_experts"]);
  EXPECT_EQ(model["n_active"], config["num_experts_per_tok"]);
  EXPECT_EQ(model["n_vocab"], config["vocab_size"]);
  EXPECT_EQ(model["d_expert"], config["moe_intermediate_size"]);
  EXPECT_EQ(model["experts_format"], "nvfp4");
  EXPECT_LE(model["file_bytes"], std::filesystem::file_size(kDemo + "/model.safetensors"));
  EXPECT_GT(model["step_bytes"], 0);
  EXPECT_LT(model["step_bytes"], model["file_bytes"]);
  EXPECT_EQ(report["text"]["has_chat_template"], true);
  EXPECT_EQ(report["text"]["stop_tokens"][0]["id"], 0);
  EXPECT_EQ(report["text"]["stop_tokens"][1]["id"], 2);
  EXPECT_GE(report["machine"]["n_cpus_allowed"], 1);
  EXPECT_FALSE(report["machine"]["isa"].get<std::string>().empty());
}

TEST(Inspect, TheTableSaysTheSameToPeople) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"inspect", kDemo}, {"inspect", "--model", kDemo}}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("qwen3_moe"), HasSubstr("32 in a layer, 4 active"),
                                   HasSubstr("nvfp4"), HasSubstr("MB"), HasSubstr("<|im_end|>"),
                                   HasSubstr("instruction set")));
  }
}

TEST(Inspect, KeysAndValuesFollowTheirType) {
  const json half = json::parse(run({"inspect", "--json"}).out);
  const json full = json::parse(run({"inspect", "--json", "--kv-dtype", "f32"}).out);
  EXPECT_EQ(full["model"]["kv_bytes_per_token"].get<uint64_t>(),
            2 * half["model"]["kv_bytes_per_token"].get<uint64_t>());
  const json small = json::parse(run({"inspect", "--json", "--kv-dtype", "fp8"}).out);
  EXPECT_LT(small["model"]["kv_bytes_per_token"].get<uint64_t>(),
            half["model"]["kv_bytes_per_token"].get<uint64_t>());
}

TEST(Inspect, WorksWithoutATokenizer) {
  Folder folder;
  const std::string model = folder.path() + "/m";
  copy_demo(model, {{"tokenizer.json", ""}});
  const Outcome outcome = run({"inspect", model});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("  tokenizer              none\n"));
  const json text = json::parse(run({"inspect", "--json", model}).out)["text"];
  EXPECT_TRUE(text["tokenizer"].is_null());
  EXPECT_TRUE(text["stop_tokens"].is_null());
  EXPECT_EQ(text["has_chat_template"], true);
  EXPECT_EQ(run({"logits", "--model", model, "--tokens", "1"}).status, 0);
  for (const char* command : {"run", "tokenize"}) {
    const Outcome refused = run({command, "--model", model, "x"});
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("tokenizer.json"));
  }
}

TEST(Inspect, ATokenizerThatCannotBeReadIsNotTakenForNone) {
  for (const char* target : {"tokenizer.json", "/no/such/file"}) {  // a loop; a link to nothing
    Folder folder;
    const std::string model = folder.path() + "/m";
    copy_demo(model, {{"tokenizer.json", ""}, {"chat_template.jinja", "{% for %}"}});
    std::filesystem::create_symlink(target, model + "/tokenizer.json");
    const json text = json::parse(run({"inspect", "--json", model}).out)["text"];
    ASSERT_EQ(text["errors"].size(), 2u);
    EXPECT_THAT(text["errors"][0], HasSubstr("m/tokenizer.json: "));
    EXPECT_THAT(text["errors"][1], HasSubstr("m/chat_template.jinja"));
    EXPECT_THAT(run({"inspect", model}).out, HasSubstr("m/tokenizer.json: "));
    const Outcome logits = run({"logits", "--model", model, "--tokens", "1"});
    EXPECT_EQ(logits.status, 0);
    EXPECT_THAT(logits.err, HasSubstr("m/tokenizer.json: "));
    for (const char* command : {"run", "tokenize"}) {
      const Outcome refused = run({command, "--model", model, "x"});
      EXPECT_EQ(refused.status, 2);
      EXPECT_THAT(refused.err, AllOf(StartsWith("ft: error: "), HasSubstr("m/tokenizer.json: ")));
    }
  }
}

}  // namespace
}  // namespace ft::test
