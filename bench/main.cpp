// ft-bench: kernels and layers against what the machine can read and multiply.
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/printable.h"
#include "bench/measure.h"
#include "bench/report.h"

namespace ft::bench {
namespace {

constexpr uint64_t kSmallProbe = uint64_t{16} << 20;

struct Options {
  std::string isa = "auto";
  std::vector<int> threads = {0};
  std::string filter;
  MeasureOptions measure;
  std::optional<double> bank_gib;
  std::string baseline;
  std::string commit;
  bool is_small = false;
  bool is_list = false;
  bool is_json = false;
  bool is_count = false;
};

void add_options(CLI::App& app, Options& o) {
  app.add_option("--isa", o.isa, "instruction set, or auto for the best of this machine");
  app.add_option("--threads", o.threads, "numbers of threads, 1,2,4; 0: all allowed cores")
      ->delimiter(',');
  app.add_option("--filter", o.filter, "only cases whose name matches this regular expression");
  app.add_option("--repeat", o.measure.n_repetitions, "repetitions of each case")
      ->check(CLI::Range(1, 1000));
  app.add_option("--seconds", o.measure.seconds, "length of a repetition (at least one call)")
      ->check(CLI::Range(0.0, 3600.0));
  app.add_option("--bank-gib", o.bank_gib, "memory that weights come out of (4; with --small 1/16)")
      ->check(CLI::Range(0.001, 65536.0));
  app.add_option("--baseline", o.baseline, "a file of --json to compare with");
  app.add_option("--commit", o.commit, "is written into the result");
  app.add_flag("--small", o.is_small, "small sizes, to try the program: times mean nothing");
  app.add_flag("--list", o.is_list, "names of the cases, and nothing else");
  app.add_flag("--json", o.is_json, "JSON in place of the table");
  app.add_flag("--count", o.is_count, "one call of each case (small sizes, one thread), no times");
}

std::vector<Case> chosen_cases(const Options& o) {
  constexpr size_t kLongest = 200;  // the library matches by recursion
  if (o.filter.size() > kLongest)
    bad_input("--filter has {} characters, {} are possible", o.filter.size(), kLongest);
  std::regex pattern;
  try {
    pattern = std::regex(o.filter);
  } catch (const std::regex_error&) {
    bad_input("--filter {}: not a regular expression (ECMAScript)", printable(o.filter));
  }
  std::vector<Case> chosen;
  for (Case& c : all_cases(o.is_small || o.is_count ? Sizes::kSmall : Sizes::kFull)) {
    if (std::regex_search(c.name, pattern)) chosen.push_back(std::move(c));
  }
  if (chosen.empty())
    bad_input("--filter {}: no case has such a name; --list has all", printable(o.filter));
  return chosen;
}

/// One line a case, in the order of the calls: the tool that counts has only numbers.
void count(const std::vector<Case>& cases, const Options& o) {
  Rig rig(o.isa, 1, kSmallProbe);
  Pool pool(uint64_t{64} << 20);
  for (const Case& c : cases) {
    const Work work = c.prepare(rig, pool);
    if (!work.call) continue;
    work.call(rig);  // what happens only once is not counted
    counted_call(work, rig);
    end_of_counted_call();
    fmt::print("{}\n", c.name);
  }
}

void run(const std::vector<Case>& cases, const Options& o, RunInfo info) {
  const Baseline baseline = o.baseline.empty() ? Baseline() : Baseline::read(o.baseline);
  std::vector<std::unique_ptr<Rig>> rigs;
  const auto probe_bytes = o.is_small ? std::optional(kSmallProbe) : std::nullopt;
  for (const int n : o.threads) {
    rigs.push_back(std::make_unique<Rig>(o.isa, n, probe_bytes));
    rigs.back()->measure_crossovers();
  }
  Rig& widest = **std::max_element(rigs.begin(), rigs.end(), [](const auto& a, const auto& b) {
    return a->team().n_threads() < b->team().n_threads();
  });
  info.probe = widest.probe_size();
  Pool pool(info.bank_bytes);
  std::vector<Result> results;
  if (!o.is_json) print_head(info);
  for (const Case& c : cases) {
    const Work work = c.prepare(widest, pool);
    for (const auto& rig : rigs) {
      results.push_back(measure(c, work, *rig, info.measure));
      if (!o.is_json) print_row(results.back(), baseline.ratio(results.back()));
    }
  }
  info.huge_page_share = pool.huge_page_share();
  if (o.is_json) {
    fmt::print("{}\n", to_json(info, results, baseline));
  } else if (info.huge_page_share) {
    fmt::print("{:.0f}% of the bank was in huge pages\n", 100 * *info.huge_page_share);
  }
}

void run_program(const Options& o, std::string command) {
  for (const double number : {o.measure.seconds, o.bank_gib.value_or(1)})
    if (!std::isfinite(number)) bad_input("--seconds and --bank-gib take numbers, not {}", number);
  const std::vector<Case> cases = chosen_cases(o);
  if (o.is_list) {
    for (const Case& c : cases) fmt::print("{}\n", c.name);
  } else if (o.is_count) {
    count(cases, o);
  } else {
    constexpr double kGib = 1 << 30;
    run(cases, o,
        {.commit = o.commit,
         .command = std::move(command),
         .measure = o.measure,
         .bank_bytes =
             static_cast<uint64_t>(o.bank_gib.value_or(o.is_small ? 1.0 / 16 : 4.0) * kGib)});
  }
}

}  // namespace
}  // namespace ft::bench

int main(int argc, char** argv) {
  ft::bench::Options options;
  CLI::App app("Kernels and layers of ft against what this machine can read and multiply.");
  ft::bench::add_options(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    ft::bench::run_program(options, fmt::format("{}", fmt::join(argv, argv + argc, " ")));
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      ft::fail(ft::ErrorKind::kIo, "cannot write to standard output: {}", std::strerror(errno));
  } catch (const ft::Error& error) {
    fmt::print(stderr, "ft-bench: {}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "ft-bench: internal error: {}\n", error.what());
    return 1;
  }
  return 0;
}
