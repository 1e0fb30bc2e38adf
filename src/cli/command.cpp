// `ft` itself: the list of commands, and the way to them.
#include "cli/command.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/options.h"

namespace ft {
namespace {

constexpr Command kCommands[] = {
    {"run", "answer one prompt", run_run},
    {"shell", "chat in the terminal", run_shell},
    {"inspect", "say what a model is, what it needs, and what this machine has", run_inspect},
    {"bench", "measure the speed of a model on this machine", run_bench},
    {"logits", "write the logits of given tokens, for those who port models", run_logits},
    {"tokenize", "show the tokens of a text", run_tokenize},
};

std::string help_text() {
  std::string text =
      "FreeToken runs Mixture-of-Experts language models on your own machine.\n\n"
      "Usage: ft COMMAND [OPTIONS]\n\nCommands:\n";
  for (const Command& command : kCommands) {
    text += fmt::format("  {:<10} {}\n", command.name, command.help);
  }
  text +=
      "\n`ft COMMAND --help` lists the options of a command, `ft --version` says the version.\n"
      "Try: ft run \"What is an expert?\"\n";
  return text;
}

/// Errors: UsageError with the commands that there are.
const Command& find_command(const std::string& name) {
  const auto command = std::find_if(std::begin(kCommands), std::end(kCommands),
                                    [&](const Command& row) { return name == row.name; });
  if (command != std::end(kCommands)) return *command;
  std::string names;
  for (const Command& row : kCommands)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", row.name);
  throw UsageError("ft", fmt::format("unknown command '{}'; there are {}", name, names));
}

}  // namespace

std::span<const Command> commands() {
  return kCommands;
}

int exit_status(const Error& error) {
  return error.kind() == ErrorKind::kDevice ? 1 : 2;
}

int run_program(std::span<const std::string> arguments) {
  if (arguments.empty())
    throw UsageError("ft", "no command given; `ft run PROMPT` answers a prompt");
  const std::string& name = arguments.front();
  const bool is_help = name == "--help" || name == "-h" || name == "help";
  const size_t n_most = is_help ? 2 : 1;
  if ((is_help || name == "--version") && arguments.size() > n_most) {
    throw UsageError("ft", fmt::format("'{}' is one word too many", arguments[n_most]));
  }
  if (name == "--version") {
    print(fmt::format("ft {}\n", kVersion));
  } else if (is_help && arguments.size() == 2) {
    const std::string help = "--help";
    return find_command(arguments[1]).run({&help, 1});
  } else if (is_help) {
    print(help_text());
  } else {
    return find_command(name).run(arguments.subspan(1));
  }
  return 0;
}

}  // namespace ft
