// Results as a table for people and as JSON for programs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/measure.h"
#include "device/read_probe.h"

namespace ft::bench {

/// What all results of a run have in common.
struct RunInfo {
  std::string commit = {};   // "" where it is not told
  std::string command = {};  // as it was typed
  MeasureOptions measure = {};
  uint64_t bank_bytes = 0;
  ProbeSize probe = {};                        // with the most threads
  std::optional<double> huge_page_share = {};  // of the bank
};

/// A saved run, to compare with: what compare_bench.py compares too.
class Baseline {
 public:
  /// Errors: kIo, kBadInput for a file that is no result of this program.
  static Baseline read(const std::string& file);

  /// How much better than the saved one (1.1: a tenth), by shares where both have them, since these
  /// do not depend on how busy the machine was; nothing where it has no such result.
  std::optional<double> ratio(const Result& result) const;

 private:
  struct Saved {
    double value = 0;
    std::optional<double> share = {};
  };
  std::map<std::string, Saved> saved_;
};

void print_head(const RunInfo& info);
void print_row(const Result& result, std::optional<double> ratio);

/// {"machine", "commit", ..., "results": [...]}
std::string to_json(const RunInfo& info, const std::vector<Result>& results,
                    const Baseline& baseline);

}  // namespace ft::bench
