// `ft run` on the demo model, against the reference's own answers.
#include <signal.h>

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cli/process.h"

namespace ft::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kQuestion = "What is a lighthouse?";
constexpr const char* kAnswer =
    "A tower with a light that gives warning of shoals to passing ships.";

TEST(Run, GreedyAnswersEqualTheReference) {
  const std::string user = "<|im_start|>user\n", end = "<|im_end|>\n<|im_start|>assistant\n";
  int n_chats = 0;
  for (const json& row : json::parse(read_file(kDemo + "/reference.json"))) {
    const std::string prompt = row["prompt"];
    if (!prompt.starts_with(user) || !prompt.ends_with(end)) continue;
    ++n_chats;
    const std::string question =
        prompt.substr(user.size(), prompt.size() - user.size() - end.size());
    const Outcome outcome = run({"run", "--greedy", question});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, row["greedy_text"].get<std::string>() + "\n");
  }
  EXPECT_GT(n_chats, 1);
}

TEST(Run, RawContinuesTheTextWithItsSpecialTokens) {
  const json row = json::parse(read_file(kDemo + "/reference.json"))[0];
  const Outcome outcome = run({"run", "--raw", "--greedy", "--json", row["prompt"]});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json reply = json::parse(outcome.out);
  EXPECT_EQ(reply["text"], row["greedy_text"]);
  EXPECT_EQ(reply["n_prompt"], row["prompt_ids"].size());
  json ids = row["greedy_ids"];
  ids.erase(ids.size() - 1);  // the stop token is not part of the reply
  EXPECT_EQ(reply["tokens"], ids);
  EXPECT_EQ(reply["stop_reason"], "stop_token");

  const Outcome plain = run({"run", "--raw", "--no-special", "--greedy", "--json", row["prompt"]});
  EXPECT_GT(json::parse(plain.out)["n_prompt"], reply["n_prompt"]);
}

TEST(Run, PromptComesFromStandardInput) {
  EXPECT_EQ(run({"run", "--greedy"}, std::string(kQuestion) + "\n").out,
            std::string(kAnswer) + "\n");
  EXPECT_EQ(run({"run", "--greedy", "What", "is", "a", "lighthouse?"}).out,
            std::string(kAnswer) + "\n");
  EXPECT_EQ(run({"run"}, "\n").status, 2);
}

TEST(Run, FiguresGoToStandardErrorOnly) {
  const Outcome outcome = run({"run", "--greedy", kQuestion});
  EXPECT_THAT(outcome.err, HasSubstr("prompt 17 tokens"));
  EXPECT_THAT(outcome.err, HasSubstr("; generated 18 tokens, "));
  EXPECT_THAT(outcome.err, HasSubstr(" % of this machine's "));
  EXPECT_EQ(run({"run", "--greedy", "--quiet", kQuestion}).err, "");
}

TEST(Run, JsonHasEveryField) {
  const Outcome outcome = run({"run", "--greedy", "--json", "--seed", "7", kQuestion});
  const json reply = json::parse(outcome.out);
  EXPECT_EQ(reply["text"], kAnswer);
  EXPECT_EQ(reply["n_prompt"], 17);
  EXPECT_EQ(reply["n_generated"], 18);
  EXPECT_EQ(reply["seed"], 7);
  EXPECT_THAT(reply["model"].get<std::string>(), EndsWith("models/demo"));
  for (const char* name :
       {"prefill_tokens_per_s", "decode_tokens_per_s", "gbps", "read_gbps", "share_of_read"}) {
    EXPECT_GT(reply[name].get<double>(), 0) << name;
  }
  EXPECT_NEAR(reply["gbps"].get<double>() / reply["read_gbps"].get<double>(),
              reply["share_of_read"].get<double>(), 1e-9);
}

TEST(Run, StopStringsEndInFrontOfTheText) {
  const Outcome outcome =
      run({"run", "--greedy", "--json", "--stop", "nowhere", "--stop", " that", kQuestion});
  const json reply = json::parse(outcome.out);
  EXPECT_EQ(reply["text"], "A tower with a light");
  EXPECT_EQ(reply["stop_reason"], "stop_string");
}

TEST(Run, MaxTokensAndFullContext) {
  const json reply =
      json::parse(run({"run", "--greedy", "--json", "--max-tokens", "3", kQuestion}).out);
  EXPECT_EQ(reply["n_generated"], 3);
  EXPECT_EQ(reply["stop_reason"], "max_tokens");
  const json full =
      json::parse(run({"run", "--greedy", "--json", "--context", "20", kQuestion}).out);
  EXPECT_EQ(full["stop_reason"], "context_full");
  const Outcome outcome = run({"run", "--greedy", "--context", "16", kQuestion});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("ft: error: "), HasSubstr("17 tokens"), HasSubstr("holds 16")));
}

TEST(Run, TheSameSeedGivesTheSameText) {
  const std::vector<std::string> arguments{"run",          "--json", "--temperature", "1.5",
                                           "--top-p",      "1",      "--top-k",       "0",
                                           "--max-tokens", "40",     "It was"};
  const auto reply_of = [&](const std::string& seed) {
    std::vector<std::string> all = arguments;
    if (!seed.empty()) all.insert(all.end() - 1, {"--seed", seed});
    return json::parse(run(all).out);
  };
  EXPECT_EQ(reply_of("1")["text"], reply_of("1")["text"]);
  EXPECT_NE(reply_of("1")["text"], reply_of("2")["text"]);
  const json drawn = reply_of("");
  EXPECT_EQ(reply_of(std::to_string(drawn["seed"].get<uint64_t>()))["text"], drawn["text"]);
  EXPECT_NE(reply_of("")["seed"], drawn["seed"]);
}

TEST(Run, BothArithmeticsAndSmallStepsGiveTheSameText) {
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--exact"},
                                               {"--kv-dtype", "f32"},
                                               {"--prefill-rows", "3"},
                                               {"--isa", "scalar"},
                                               {"--threads", "1"}}) {
    std::vector<std::string> arguments{"run", "--greedy", kQuestion};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(run(arguments).out, std::string(kAnswer) + "\n") << more[0];
  }
}

TEST(Run, SystemMessageComesFirst) {
  const json with =
      json::parse(run({"run", "--json", "--greedy", "--system", "Be brief.", kQuestion}).out);
  EXPECT_GT(with["n_prompt"], 17);
}

TEST(Run, OptionsOfATemplateWithoutOneAreRefused) {
  Folder folder;
  copy_demo(folder.path() + "/m", {{"chat_template.jinja", ""}});
  const std::string model = folder.path() + "/m";
  const Outcome outcome = run({"run", "--model", model, "--greedy", "--max-tokens", "2", "It was"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("no chat template"));
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--system", "Be brief."}, {"--no-think"}}) {
    std::vector<std::string> arguments{"run", "--model", model, "x"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(run(arguments).status, 2) << more[0];
  }
  EXPECT_THAT(run({"run", "--no-think", "x"}).err, HasSubstr("no effect"));
  EXPECT_EQ(run({"shell", "--model", model}).status, 2);
}

TEST(Run, TextThatIsNotUtf8IsRefused) {
  const Outcome outcome = run({"run"}, "caf\xe9");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("UTF-8"), HasSubstr("byte 3")));
  EXPECT_EQ(run({"run", "--system", "\xff", "x"}).status, 2);
}

TEST(Run, CtrlCStopsTheAnswerAndKeepsWhatIsThere) {
  // Without a stop token, and hot enough to ramble, the reply lasts until the context is full.
  Terminal terminal({.arguments = {"run", "--raw", "--temperature", "2", "--exact", "--isa",
                                   "scalar", "--stop", "\x01", "In the beginning"},
                     .input = "",
                     .environment = {}});
  ASSERT_TRUE(terminal.wait_for("from the file")) << terminal.screen();  // the note of the load
  ASSERT_TRUE(terminal.wait_for(" ")) << terminal.screen();              // the reply
  terminal.type("\x03");
  EXPECT_EQ(terminal.wait_for_end(), 130) << terminal.screen();
  EXPECT_THAT(terminal.screen(), HasSubstr("prompt "));
}

}  // namespace
}  // namespace ft::test
