// `ft shell` from a pipe and on a terminal.
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/process.h"
#include "tests/support/pseudo_terminal.h"

namespace ft::test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kAnswer =
    "A tower with a light that gives warning of shoals to passing ships.";

Outcome chat(const std::string& lines, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments{"shell", "--greedy"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(arguments, lines);
}

TEST(Shell, AnswersEachLineAndNothingElse) {
  const Outcome outcome = chat("What is a lighthouse?\n/reset\nWhat is a lighthouse?");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, std::string(kAnswer) + "\n" + kAnswer + "\n");
}

TEST(Shell, TheConversationIsKeptAndItsTokensAreReused) {
  const Outcome outcome =
      chat("What is a lighthouse?\nWhat is an expert?\n/stats\n/reset\n/stats\n");
  EXPECT_THAT(outcome.out, HasSubstr(" reused)"));
  EXPECT_THAT(outcome.out, HasSubstr(" tokens/s"));
}

TEST(Shell, MultiLineMessagesAreOneMessage) {
  const std::string joined = run({"run", "--greedy"}, "What is\na lighthouse?").out;
  EXPECT_EQ(chat("What is\\\na lighthouse?\n").out, joined);
  EXPECT_EQ(chat("\"\"\"What is\na lighthouse?\"\"\"\n").out, joined);
  EXPECT_EQ(chat("\"\"\"\nWhat is\na lighthouse?\"\"\"\n").out, joined);
  EXPECT_EQ(chat("What is\\\na lighthouse?").out, joined);
}

TEST(Shell, Commands) {
  EXPECT_THAT(chat("/help\n").out,
              AllOf(HasSubstr("/reset"), HasSubstr("/think"), HasSubstr("/quit")));
  EXPECT_EQ(chat("/quit\nWhat is a lighthouse?\n").out, "");
  EXPECT_THAT(chat("/dance\n").out, HasSubstr("unknown command /dance"));
  EXPECT_THAT(chat("/reset now\n").out, HasSubstr("/reset takes no words"));
  EXPECT_THAT(chat("/think on\n").out, HasSubstr("no switch"));
  EXPECT_EQ(chat("/quit \t\nWhat is a lighthouse?\n").out, "");
  EXPECT_THAT(chat("/stats\n").out, HasSubstr("no answer yet"));
  EXPECT_EQ(chat("\n  \n\n").out, "");
}

TEST(Shell, ThinkingIsAVariableOfTheTemplate) {
  Folder folder;
  const std::string model = folder.path() + "/m";
  copy_demo(
      model,
      {{"chat_template.jinja",
        "{% if enable_thinking is defined and not enable_thinking %}<|im_start|>user\n"
        "What is a lighthouse?{% else %}<|im_start|>user\n{{ messages[0].content }}{% endif %}"
        "<|im_end|>\n<|im_start|>assistant{{ '\\n' }}"}});
  const Outcome outcome =
      chat("/think\n/think  off \n/think \nx\n/think maybe\n", {"--model", model});
  EXPECT_EQ(outcome.out, std::string("thinking is as the template has it\nthinking is off\n") +
                             kAnswer + "\n/think on or /think off, not 'maybe'\n");
}

TEST(Shell, AMessageThatFailsIsTakenBack) {
  const Outcome outcome = chat(
      "caf\xe9\n" + std::string(200'000, 'x') + "\nWhat is a lighthouse?\n", {"--context", "64"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, std::string(kAnswer) + "\n");
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("UTF-8"), HasSubstr("64")));
}

TEST(Shell, AnErrorThatIsNotTheMessagesEndsIt) {
  const Outcome outcome = run(Invocation{.arguments = {"shell", "--greedy", "--quiet"},
                                         .input = "What is a lighthouse?\nWhat is an expert?\n",
                                         .environment = {},
                                         .output = "/dev/full"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, StartsWith("ft: error: cannot write to standard output"));
  EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1);
}

TEST(Shell, ALineHasALimit) {
  const std::string mebibyte((1 << 20) - 1, 'x');
  std::string line, block = "\"\"\"\n";
  for (int i = 0; i < 65; ++i) {
    line += mebibyte + ' ';
    block += mebibyte + '\n';
  }
  for (const std::string& input : {line, block}) {
    const Outcome outcome = chat(input, {"--quiet"});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.err, AllOf(StartsWith("ft: error: "), HasSubstr("16 MiB")));
  }
}

TEST(Shell, ManyShortLinesAreReadInOneGo) {
  std::string lines;
  for (int i = 0; i < 2'000'000; ++i) lines += "\n";
  EXPECT_EQ(chat(lines + "What is a lighthouse?\r\n").out, std::string(kAnswer) + "\n");
}

/// The demo model without end tokens: an answer lasts.
std::string endless_demo(const std::string& folder) {
  std::string config = read_file(kDemo + "/config.json");
  config.replace(config.find("\"eos_token_id\": 2"), 17, "\"eos_token_id\": null");
  copy_demo(
      folder,
      {{"generation_config.json", ""}, {"tokenizer_config.json", "{}"}, {"config.json", config}});
  return folder;
}

TEST(Shell, SpecialTokensAreShownAndNotTakenForWords) {
  Folder folder;
  const std::string model = endless_demo(folder.path() + "/m");
  const std::string lines = "What is a lighthouse?\nWhat is an expert?\n/stats\n";
  const std::vector<std::string> options{"--model", model, "--max-tokens", "19"};
  const std::string plain = chat(lines, options).out;
  std::vector<std::string> with = options;
  with.push_back("--special");
  const std::string special = chat(lines, with).out;
  EXPECT_THAT(plain, Not(HasSubstr("<|im_end|>")));
  EXPECT_THAT(special, StartsWith(std::string(kAnswer) + "<|im_end|>\n"));
  // The second prompt, which holds the first answer, has as many tokens.
  const auto prompt_of = [](const std::string& out) {
    const size_t begin = out.rfind("\nprompt ");
    return out.substr(begin, out.find(',', begin) - begin);
  };
  EXPECT_THAT(prompt_of(plain), HasSubstr(" tokens"));
  EXPECT_EQ(prompt_of(special), prompt_of(plain));
}

class ShellOnATerminal : public OnATerminal {
 protected:
  Invocation shell(std::vector<std::string> more = {}) {
    Invocation call{
        .arguments = {"shell", "--greedy"},
        .input = "",
        .environment = {{"XDG_STATE_HOME", folder_.path() + "/state"}, {"TERM", "xterm"}}};
    call.arguments.insert(call.arguments.end(), more.begin(), more.end());
    return call;
  }
  std::string history() { return folder_.path() + "/state/freetoken/history"; }

  Folder folder_;
};

TEST_F(ShellOnATerminal, ChatsKeepsAHistoryAndEndsWithCtrlD) {
  {
    Terminal terminal(shell());
    ASSERT_TRUE(terminal.wait_for_prompt()) << terminal.screen();
    terminal.type("What is a lighthouse?\r");
    ASSERT_TRUE(terminal.wait_for(kAnswer)) << terminal.screen();
    ASSERT_TRUE(terminal.wait_for_prompt());
    terminal.type("\x04");
    EXPECT_EQ(terminal.wait_for_end(), 0) << terminal.screen();
  }
  EXPECT_THAT(read_file(history()), HasSubstr("lighthouse"));
  struct stat status {};
  ASSERT_EQ(stat(history().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);

  Terminal terminal(shell());
  ASSERT_TRUE(terminal.wait_for_prompt());
  terminal.type("\x10\r");  // Ctrl-P: the line before, from the last start
  EXPECT_TRUE(terminal.wait_for(kAnswer)) << terminal.screen();
}

TEST_F(ShellOnATerminal, CtrlCDropsTheLineAndStopsTheAnswerButNotTheShell) {
  Invocation call = shell({"--exact", "--isa", "scalar", "--max-tokens", "1500"});
  call.arguments[1] = "--temperature=3";
  Folder folder;
  call.arguments.insert(call.arguments.end(), {"--model", endless_demo(folder.path() + "/m")});
  Terminal terminal(call);
  ASSERT_TRUE(terminal.wait_for_prompt()) << terminal.screen();
  terminal.type("half a line");
  ASSERT_TRUE(terminal.wait_for("half a line"));
  terminal.type("\x03");
  ASSERT_TRUE(terminal.wait_for_prompt()) << terminal.screen();
  terminal.type("/stats\r");
  ASSERT_TRUE(terminal.wait_for("no answer yet")) << terminal.screen();
  ASSERT_TRUE(terminal.wait_for_prompt());
  terminal.type("Speak.\r");
  ASSERT_TRUE(terminal.wait_for("Speak.\r\n"));
  ASSERT_TRUE(terminal.wait_for(" ")) << terminal.screen();
  terminal.type("\x03");
  ASSERT_TRUE(terminal.wait_for(" ...\r\n")) << terminal.screen();
  ASSERT_TRUE(terminal.wait_for_prompt());
  terminal.type("/quit\r");
  EXPECT_EQ(terminal.wait_for_end(), 0) << terminal.screen();
}

TEST_F(ShellOnATerminal, CtrlCStopsTheReadingOfAMessageAndTakesItBack) {
  Terminal terminal(shell({"--exact", "--isa", "scalar", "--threads", "1", "--prefill-rows", "1"}));
  ASSERT_TRUE(terminal.wait_for_prompt()) << terminal.screen();
  for (int line = 0; line < 20; ++line) {
    for (int i = 0; i < 30; ++i) terminal.type("word and ");
    terminal.type("\\\r");
    ASSERT_TRUE(terminal.wait_for("... ")) << terminal.screen();
  }
  terminal.type("end\r");
  ASSERT_TRUE(terminal.wait_for("end\r\n")) << terminal.screen();
  ASSERT_TRUE(terminal.wait_until_it_works()) << terminal.screen();
  terminal.type("\x03");
  ASSERT_TRUE(terminal.wait_for(" ...\r\n")) << terminal.screen();
  ASSERT_TRUE(terminal.wait_for_prompt());
  terminal.type("What is a lighthouse?\r");
  ASSERT_TRUE(terminal.wait_for(kAnswer)) << terminal.screen();
}

TEST_F(ShellOnATerminal, AModelThatIsCutShortEndsItWithAWord) {
  Folder folder;
  const std::string model = folder.path() + "/m";
  copy_demo(model, {{"model.safetensors", read_file(kDemo + "/model.safetensors")}});
  Terminal terminal(shell({"--model", model}));
  ASSERT_TRUE(terminal.wait_for_prompt()) << terminal.screen();
  std::filesystem::resize_file(model + "/model.safetensors", 4096);
  terminal.type("What is a lighthouse?\r");
  EXPECT_EQ(terminal.wait_for_end(), 2);
  EXPECT_THAT(terminal.screen(), HasSubstr("became shorter while it was read"));
}

TEST_F(ShellOnATerminal, TypedCharactersOutsideAsciiArrive) {
  Terminal terminal(shell());
  ASSERT_TRUE(terminal.wait_for_prompt());
  terminal.type("/caf\xc3\xa9\r");
  EXPECT_TRUE(terminal.wait_for("unknown command /caf\xc3\xa9;")) << terminal.screen();
}

}  // namespace
}  // namespace ft::test
