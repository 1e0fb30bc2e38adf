// Repetitions of a case, each beside what the machine reaches at that moment.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/work.h"

namespace ft::bench {

struct MeasureOptions {
  int n_repetitions = 5;
  double seconds = 0.1;  // of a repetition, at least one call
};

struct Spread {
  double median = 0;
  double min = 0;
  double max = 0;
};
Spread spread_of(std::vector<double> values);

struct Result {
  std::string name = {};
  int n_threads = 0;
  std::string isa = {};
  std::string unit = {};  // of the value
  bool is_more_better = true;
  Spread value = {};
  std::optional<Spread> share = {};  // of the case's bound: one share for each repetition
  std::optional<Spread> gbps = {};   // of weights or of keys and values
  std::optional<Spread> share_of_read = {};
  std::optional<Spread> gflops = {};
  std::optional<Spread> share_of_peak = {};
  std::optional<Spread> read_gbps = {};    // a plain read, before and after each repetition
  std::optional<Spread> peak_gflops = {};  // multipliers alone, likewise
};

Result measure(const Case& c, const Work& work, Rig& rig, const MeasureOptions& options);

/// Exactly one call, for a tool that counts instructions: it is told to count within the first
/// function, and to write down what it counted when it sees the second.
void counted_call(const Work& work, Rig& rig);
void end_of_counted_call();

}  // namespace ft::bench
