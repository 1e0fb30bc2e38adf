// What holds for the program as a whole: help, version, errors and their status.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command.h"
#include "tests/support/process.h"

namespace ft::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Program, VersionIsTheProjectsVersion) {
  EXPECT_EQ(run({"--version"}).out, std::string("ft ") + kVersion + "\n");
  EXPECT_THAT(read_file(FT_SOURCE_DIR "/CMakeLists.txt"),
              HasSubstr(std::string("VERSION ") + kVersion + " "));
}

TEST(Program, HelpListsEveryCommandAndEachHasItsOwn) {
  const Outcome help = run({"--help"});
  EXPECT_EQ(help.status, 0);
  for (const Command& command : commands()) {
    EXPECT_THAT(help.out, HasSubstr(std::string("\n  ") + command.name + " "));
    const Outcome own = run({command.name, "--help"});
    EXPECT_EQ(own.status, 0) << command.name;
    EXPECT_THAT(own.out, HasSubstr("--model")) << command.name;
    EXPECT_EQ(own.err, "");
  }
}

TEST(Program, MistakesOnTheCommandLineHaveStatusTwoAndAHint) {
  const std::vector<std::vector<std::string>> mistakes{
      {},
      {"fly"},
      {"--fly"},
      {"--version", "zz"},
      {"--help", "fly"},
      {"help", "fly"},
      {"help", "run", "x"},
      {"run", "--fly", "x"},
      {"run", "--top-p", "2", "x"},
      {"run", "--top-p", "nan", "x"},
      {"run", "--temperature", "-1", "x"},
      {"run", "--seed", "-1", "x"},
      {"run", "--seed", "1.5", "x"},
      {"run", "--seed", "0x10", "x"},
      {"run", "--temperature", "inf", "x"},
      {"run", "--temperature", "0,5", "x"},
      {"run", "--top-k", "-1", "x"},
      {"run", "--top-k", "5000000000", "x"},
      {"run", "--min-p", "1.1", "x"},
      {"run", "--repetition-penalty", "0", "x"},
      {"run", "--presence-penalty", "nan", "x"},
      {"run", "--frequency-penalty", "-1e7", "x"},
      {"run", "--max-tokens", "0", "x"},
      {"run", "--max-tokens", "99999999999999999999", "x"},
      {"run", "--threads", "0", "x"},
      {"run", "--threads", "2x", "x"},
      {"run", "--context", "0", "x"},
      {"run", "--kv-dtype", "int8", "x"},
      {"run", "--dense-dtype", "bf16", "x"},
      {"shell", "--dense-dtype", "q4"},
      {"bench", "decode", "--dense-dtype", "Q8"},
      {"logits", "--tokens", "1", "--dense-dtype", ""},
      {"run", "--exact", "--kv-dtype", "bf16", "x"},
      {"run", "--exact", "--kv-dtype", "fp8", "x"},
      {"run", "--exact", "--no-rounding", "x"},
      {"run", "--greedy", "--temperature", "1", "x"},
      {"run", "--greedy", "--top-p", "0.5", "x"},
      {"run", "--temperature", "0", "--top-k", "4", "x"},
      {"run", "--temperature", "0", "--min-p", "0.1", "x"},
      {"run", "--greedy", "--seed", "1", "x"},
      {"shell", "--greedy", "--seed", "1"},
      {"shell", "x"},
      {"run", "--model", "", "x"},
      {"run", "--system", "", "x"},
      {"run", "--raw", "--system", "Be brief.", "x"},
      {"run", "--raw", "--no-think", "x"},
      {"run", "--no-special", "x"},
      {"run", "--stop", "", "x"},
      {"run", "--seed", "1", "--seed", "2", "x"},
      {"run", ""},
      {"run"},
      {"logits"},
      {"logits", "--tokens", "1", "--tokens-file", "x"},
      {"logits", "--tokens", "1", "--greedy", "0"},
      {"tokenize", "--template", "--no-special", "x"},
      {"tokenize", "--threads", "1", "x"},
      {"inspect", "a", "b"},
      {"inspect", "a", "--model", "b"},
      {"inspect", ""},
      {"logits", "--tokens", "1", "--out", ""},
  };
  for (const auto& arguments : mistakes) {
    const Outcome outcome = run(arguments);
    const std::string what = testing::PrintToString(arguments);
    EXPECT_EQ(outcome.status, 2) << what << outcome.err;
    EXPECT_THAT(outcome.err, StartsWith("ft: error: ")) << what;
    EXPECT_THAT(outcome.err, HasSubstr("--help`")) << what;
    EXPECT_EQ(outcome.out, "") << what;
  }
}

TEST(Program, HelpHasThreeSpellings) {
  const std::string list = run({"--help"}).out;
  EXPECT_EQ(run({"help"}).out, list);
  EXPECT_EQ(run({"-h"}).out, list);
  for (const Command& command : commands()) {
    EXPECT_EQ(run({"help", command.name}).out, run({command.name, "--help"}).out);
  }
}

TEST(Program, TheExitStatusSaysWhoCanPutItRight) {
  for (const ErrorKind kind :
       {ErrorKind::kBadInput, ErrorKind::kUnsupported, ErrorKind::kOutOfMemory, ErrorKind::kIo}) {
    EXPECT_EQ(exit_status(Error(kind, "")), 2);
  }
  EXPECT_EQ(exit_status(Error(ErrorKind::kDevice, "")), 1);
}

TEST(Program, AnUnknownCommandNamesThoseThatThereAre) {
  const std::string text = run({"fly"}).err;
  for (const Command& command : commands()) EXPECT_THAT(text, HasSubstr(command.name));
}

TEST(Program, TheDemoModelIsFoundOrThePlacesAreNamed) {
  Folder folder;
  const Outcome outcome = run(Invocation{.arguments = {"tokenize", "x"},
                                         .input = "",
                                         .environment = {{"FT_DEMO_MODEL", folder.path()}}});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr(folder.path()));
  // A copy of the program far away from any model finds none, and says where it looked.
  const std::string copy = folder.path() + "/bin/ft";
  const std::string command = "mkdir " + folder.path() + "/bin && cp " FT_PROGRAM " " + copy +
                              " && env -u " + "FT_DEMO_MODEL " + copy + " tokenize x 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  std::string text(4096, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), pipe));
  EXPECT_EQ(WEXITSTATUS(pclose(pipe)), 2);
  EXPECT_THAT(text, HasSubstr(folder.path() + "/share/freetoken/models/demo"));
  EXPECT_THAT(text, HasSubstr("--model"));
}

TEST(Program, AModelThatIsNotThereIsNamed) {
  for (const char* command : {"run", "tokenize"}) {
    const Outcome outcome = run({command, "--model", "/no/such/folder", "x"});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.err, HasSubstr("/no/such/folder"));
    EXPECT_THAT(outcome.err, Not(HasSubstr("internal")));
  }
}

TEST(Program, AFullDiskIsAnErrorOfEveryCommand) {
  const std::vector<std::vector<std::string>> calls{
      {"--help"},
      {"--version"},
      {"run", "--greedy", "--quiet", "What is a lighthouse?"},
      {"run", "--greedy", "--quiet", "--json", "What is a lighthouse?"},
      {"shell", "--greedy", "--quiet"},
      {"inspect"},
      {"tokenize", "x"},
      {"logits", "--quiet", "--tokens", "1"}};
  for (const std::vector<std::string>& arguments : calls) {
    const Outcome outcome = run(Invocation{.arguments = arguments,
                                           .input = "What is a lighthouse?\n",
                                           .environment = {},
                                           .output = "/dev/full"});
    EXPECT_EQ(outcome.status, 2) << arguments[0];
    EXPECT_THAT(outcome.err, AllOf(StartsWith("ft: error: "), HasSubstr("standard output")))
        << arguments[0];
  }
}

TEST(Program, AClosedPipeEndsTheProgramSilently) {
  // bash reports the first command's status; the trap makes it start with SIGPIPE ignored.
  for (const std::string trap : {"", "trap \"\" PIPE; "}) {
    const std::string line =
        trap + "{ sleep 0.2; " FT_PROGRAM " --help; echo \"status $?\" >&2; } | true";
    FILE* pipe = popen(("bash -c '" + line + "' 2>&1").c_str(), "r");
    std::string text(4096, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), pipe));
    pclose(pipe);
    EXPECT_EQ(text, "status 141\n") << trap;
  }
}

}  // namespace
}  // namespace ft::test
