// `ft run` on the demo model, against the reference's own answers.
#include <signal.h>

#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/process.h"
#include "tests/support/pseudo_terminal.h"

namespace ft::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kQuestion = "What is a lighthouse?";
constexpr const char* kAnswer =
    "A tower with a light that gives warning of shoals to passing ships.";

/// The part of `ids` in front of the first token that led by less than 0.15: there arithmetic that
/// rounds otherwise may choose another one.
json decided(const json& row, const json& ids) {
  json part = json::array();
  for (size_t i = 0; i < ids.size() && row["greedy_margin"][i] >= 0.15; ++i) part.push_back(ids[i]);
  return part;
}

TEST(Run, EveryPromptOfTheReferenceContinuesAsThere) {
  const json rows = json::parse(read_file(kDemo + "/reference.json"));
  ASSERT_GE(rows.size(), 7u);
  for (const json& row : rows) {
    json ids = row["greedy_ids"];
    const std::string most = std::to_string(ids.size());
    if (ids.back() == 2) ids.erase(ids.size() - 1);  // the stop token is not part of the reply
    for (const bool is_exact : {true, false}) {
      std::vector<std::string> call{"run", "--raw", "--greedy", "--json", "--max-tokens", most};
      if (is_exact) call.push_back("--exact");
      call.push_back(row["prompt"]);
      const Outcome outcome = run(call);
      ASSERT_EQ(outcome.status, 0) << outcome.err;
      const json reply = json::parse(outcome.out);
      EXPECT_EQ(reply["n_prompt"], row["prompt_ids"].size());
      if (is_exact || decided(row, ids) == ids) {
        EXPECT_EQ(reply["tokens"], ids) << row["prompt"];
        EXPECT_EQ(reply["text"], row["greedy_text"]);
      } else {
        EXPECT_EQ(decided(row, reply["tokens"]), decided(row, ids)) << row["prompt"];
      }
    }
  }
}

TEST(Run, QuestionsAreAnsweredAsInTheReferenceInBothArithmetics) {
  const std::string user = "<|im_start|>user\n", end = "<|im_end|>\n<|im_start|>assistant\n";
  int n_chats = 0;
  for (const json& row : json::parse(read_file(kDemo + "/reference.json"))) {
    const std::string prompt = row["prompt"];
    if (!prompt.starts_with(user) || !prompt.ends_with(end)) continue;
    ++n_chats;
    const std::string question =
        prompt.substr(user.size(), prompt.size() - user.size() - end.size());
    for (const std::vector<std::string>& call :
         {std::vector<std::string>{"run", "--greedy", question},
          {"run", "--greedy", "--exact", question}}) {
      const Outcome outcome = run(call);
      EXPECT_EQ(outcome.status, 0) << outcome.err;
      EXPECT_EQ(outcome.out, row["greedy_text"].get<std::string>() + "\n");
    }
  }
  EXPECT_GE(n_chats, 5);
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
  const Outcome outcome = run({"run", "--greedy", "--json", kQuestion});
  const json reply = json::parse(outcome.out);
  EXPECT_EQ(reply["text"], kAnswer);
  EXPECT_EQ(reply["n_prompt"], 17);
  EXPECT_EQ(reply["n_generated"], 18);
  EXPECT_EQ(reply["seed"], 0);  // nothing is drawn
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
}

TEST(Run, MistakesShowBeforeTheLoad) {
  const Outcome context = run({"run", "--greedy", "--context", "16", kQuestion});
  EXPECT_EQ(context.status, 2);
  EXPECT_THAT(context.err, AllOf(StartsWith("ft: error: "), HasSubstr("17 tokens"),
                                 HasSubstr("holds 16"), HasSubstr("up to 2048")));
  const Outcome model = run({"run", "--context", "4096", kQuestion});
  EXPECT_EQ(model.status, 2);
  EXPECT_THAT(model.err, AllOf(StartsWith("ft: error: "), HasSubstr("4096"), HasSubstr("2048")));

  // A tokenizer that knows more tokens than the model.
  Folder folder;
  json tokenizer = json::parse(read_file(kDemo + "/tokenizer.json"));
  json token = tokenizer["added_tokens"][0];
  token["id"] = 4096;
  token["content"] = "<|more|>";
  tokenizer["added_tokens"].push_back(token);
  copy_demo(folder.path() + "/m", {{"tokenizer.json", tokenizer.dump()}});
  const Outcome vocabulary = run({"run", "--model", folder.path() + "/m", "--raw", "a<|more|>"});
  EXPECT_EQ(vocabulary.status, 2);
  EXPECT_THAT(vocabulary.err,
              AllOf(StartsWith("ft: error: "), HasSubstr("token 4096 at position 1")));
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

TEST(Run, ASeedIsADecimalNumber) {
  const Outcome outcome = run({"run", "--json", "--seed", "010", "--max-tokens", "1", kQuestion});
  EXPECT_EQ(json::parse(outcome.out)["seed"], 10) << outcome.err;
}

/// The tokens of a reply to a text that repeats itself.
json tokens_with(std::vector<std::string> options) {
  options.insert(options.begin(), {"run", "--raw", "--json", "--max-tokens", "60"});
  options.push_back("And he said, and he said, and he said, and");
  const Outcome outcome = run(options);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return json::parse(outcome.out)["tokens"];
}

size_t n_distinct(const json& tokens) {
  return std::set<json>(tokens.begin(), tokens.end()).size();
}

TEST(Run, PenaltiesKeepTokensFromComingAgain) {
  const json plain = tokens_with({"--greedy"});
  EXPECT_LT(n_distinct(plain), plain.size());
  for (const char* penalty :
       {"--presence-penalty", "--frequency-penalty", "--repetition-penalty"}) {
    const json tokens = tokens_with({"--greedy", penalty, "10000"});
    EXPECT_EQ(n_distinct(tokens), tokens.size()) << penalty;
    EXPECT_NE(tokens, plain) << penalty;
  }
  // A reward instead, larger than any margin: the first token comes for ever.
  EXPECT_EQ(n_distinct(tokens_with({"--greedy", "--presence-penalty", "-10000"})), 1u);
}

TEST(Run, CutsThatLeaveOneTokenAreGreedyHoweverHot) {
  const json greedy = tokens_with({"--greedy"});
  for (const std::vector<std::string>& cut :
       {std::vector<std::string>{"--min-p", "1"}, {"--top-p", "0"}, {"--top-k", "1"}}) {
    EXPECT_EQ(tokens_with({"--temperature", "50", cut[0], cut[1]}), greedy) << cut[0];
  }
  EXPECT_NE(tokens_with({"--temperature", "50", "--min-p", "0", "--top-p", "1"}), greedy);
}

TEST(Run, EndsWhereTheModelsOwnSettingsSay) {
  const Folder folder;
  const std::string model = folder.path() + "/m";
  copy_demo(model, {{"generation_config.json",
                     R"({"eos_token_id": [2, 0], "max_new_tokens": 3, "stop_strings": "light"})"}});
  const auto reply_with = [&](std::vector<std::string> more) {
    std::vector<std::string> call{"run", "--model", model, "--json", kQuestion};
    call.insert(call.end(), more.begin(), more.end());
    const Outcome outcome = run(call);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return json::parse(outcome.out);
  };
  EXPECT_EQ(reply_with({})["tokens"].size(), 3u);
  EXPECT_EQ(reply_with({"--max-tokens", "40"})["text"], "A tower with a ");
  EXPECT_EQ(reply_with({"--max-tokens", "40", "--stop", "nowhere"})["text"], kAnswer);
}

TEST(Run, DefaultsOutOfRangeNameTheirFile) {
  Folder folder;
  copy_demo(folder.path() + "/m",
            {{"generation_config.json", R"({"do_sample": true, "top_p": 1.5})"}});
  const Outcome outcome = run({"run", "--model", folder.path() + "/m", "x"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr(folder.path() + "/m/generation_config.json"),
                                 HasSubstr("1.5"), Not(HasSubstr("--help"))));
}

/// The demo model without end tokens: they are part of the reply.
std::string endless_demo(const std::string& folder) {
  json config = json::parse(read_file(kDemo + "/config.json"));
  config["eos_token_id"] = nullptr;
  copy_demo(folder, {{"generation_config.json", ""},
                     {"tokenizer_config.json", "{}"},
                     {"config.json", config.dump()}});
  return folder;
}

TEST(Run, SpecialTokensShowIfAskedFor) {
  Folder folder;
  const std::vector<std::string> call{"run",    "--model",      endless_demo(folder.path() + "/m"),
                                      "--json", "--max-tokens", "19",
                                      kQuestion};
  std::vector<std::string> special = call;
  special.insert(special.begin() + 1, "--special");
  const json hidden = json::parse(run(call).out), shown = json::parse(run(special).out);
  EXPECT_EQ(hidden["text"], kAnswer);
  EXPECT_EQ(shown["text"], std::string(kAnswer) + "<|im_end|>");
  EXPECT_EQ(hidden["tokens"], shown["tokens"]);
}

TEST(Run, BothArithmeticsAndSmallStepsGiveTheSameText) {
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--exact"},
                                               {"--kv-dtype", "f32"},
                                               {"--kv-dtype", "fp8"},
                                               {"--dense-dtype", "q8"},
                                               {"--dense-dtype", "file"},
                                               {"--prefill-rows", "3"},
                                               {"--no-rounding"},
                                               {"--isa", "scalar"},
                                               {"--threads", "1"}}) {
    std::vector<std::string> arguments{"run", "--greedy", kQuestion};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(run(arguments).out, std::string(kAnswer) + "\n") << more[0];
  }
}

TEST(Run, DenseWeightsInQ8AreAnnounced) {
  const std::vector<std::string> call{"run", "--greedy", "--max-tokens", "2", kQuestion};
  std::vector<std::string> q8 = call;
  q8.insert(q8.begin() + 1, {"--dense-dtype", "q8"});
  EXPECT_THAT(run(q8).err,
              AllOf(HasSubstr("for dense weights in q8"),
                    HasSubstr("ft: q8: 25 dense matrices of 4.06 MB become 2.16 MB\n")));
  EXPECT_THAT(run(call).err, Not(HasSubstr("q8")));
  q8[2] = "q4";
  EXPECT_THAT(run(q8).err, HasSubstr("--dense-dtype is file or q8, not 'q4'"));
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
  for (const char* option : {"--system", "--stop"}) {
    const Outcome value = run({"run", option, "caf\xe9", "x"});
    EXPECT_EQ(value.status, 2);
    EXPECT_THAT(value.err, AllOf(HasSubstr(option), HasSubstr("byte 3")));
  }
}

using RunOnATerminal = OnATerminal;

TEST_F(RunOnATerminal, CtrlCStopsTheAnswerAndKeepsWhatIsThere) {
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

TEST_F(RunOnATerminal, CtrlCStopsTheReadingOfThePrompt) {
  std::string prompt = "In the beginning";
  for (int i = 0; i < 300; ++i) prompt += " was the word and the word";
  Terminal terminal({.arguments = {"run", "--raw", "--exact", "--isa", "scalar", "--threads", "1",
                                   "--prefill-rows", "1", prompt},
                     .input = "",
                     .environment = {}});
  ASSERT_TRUE(terminal.wait_until_it_catches(SIGINT)) << terminal.screen();
  terminal.type("\x03");
  EXPECT_EQ(terminal.wait_for_end(), 130) << terminal.screen();
  EXPECT_THAT(terminal.screen(), HasSubstr("; generated 0 tokens"));
}

}  // namespace
}  // namespace ft::test
