// `ft bench`: the list of benches.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/options.h"

namespace ft {
namespace {

constexpr const char* kCommand = "ft bench";

constexpr Command kBenches[] = {
    {"decode", "tokens a second of prefill and decode, beside what memory allows",
     run_bench_decode},
    {"start", "time to the first token, part by part, and memory", run_bench_start},
};

std::string help_text() {
  std::string text =
      "Measures the speed of a model on this machine.\n\n"
      "Usage: ft bench WHAT [OPTIONS]\n\nWHAT:\n";
  for (const Command& bench : kBenches) {
    text += fmt::format("  {:<10} {}\n", bench.name, bench.help);
  }
  return text +
         "\n`ft bench WHAT --help` lists the options.\n"
         "Try: ft bench decode --model DIR --load-format dummy\n";
}

std::string names() {
  std::string text;
  for (const Command& bench : kBenches) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", bench.name);
  }
  return text;
}

}  // namespace

int run_bench(std::span<const std::string> arguments) {
  if (arguments.empty()) {
    throw UsageError(kCommand, fmt::format("what is to be measured? There is: {}", names()));
  }
  const std::string& name = arguments.front();
  if (name == "--help" || name == "-h") {
    print(help_text());
    return 0;
  }
  const auto bench = std::find_if(std::begin(kBenches), std::end(kBenches),
                                  [&](const Command& row) { return name == row.name; });
  if (bench == std::end(kBenches)) {
    throw UsageError(kCommand, fmt::format("unknown bench '{}'; there is: {}", name, names()));
  }
  return bench->run(arguments.subspan(1));
}

}  // namespace ft
