#include "bench/report.h"

#include <cstdio>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_text.h"
#include "base/units.h"
#include "device/machine.h"

namespace ft::bench {
namespace {

using Json = nlohmann::ordered_json;

std::string key_of(const std::string& name, int64_t n_threads) {
  return fmt::format("{} threads {}", name, n_threads);
}

Json json_of(const std::optional<Spread>& spread) {
  if (!spread) return nullptr;
  return {{"median", spread->median}, {"min", spread->min}, {"max", spread->max}};
}

Json json_of(const Result& r, std::optional<double> ratio) {
  return {{"name", r.name},
          {"threads", r.n_threads},
          {"isa", r.isa},
          {"unit", r.unit},
          {"more_is_better", r.is_more_better},
          {"value", json_of(std::optional(r.value))},
          {"share", json_of(r.share)},
          {"ratio_to_baseline", ratio ? Json(*ratio) : Json(nullptr)},
          {"gbps", json_of(r.gbps)},
          {"read_gbps", json_of(r.read_gbps)},
          {"share_of_read", json_of(r.share_of_read)},
          {"gflops", json_of(r.gflops)},
          {"peak_gflops", json_of(r.peak_gflops)},
          {"share_of_peak", json_of(r.share_of_peak)}};
}

Json machine_json() {
  const MachineReport machine = describe_machine();
  return {{"cpu", machine.cpu_name},
          {"cpus_online", machine.n_cpus_online},
          {"cpus_allowed", machine.n_cpus_allowed},
          {"cores_allowed", machine.n_cores_allowed},
          {"numa_nodes", machine.n_numa_nodes},
          {"memory_bytes", machine.memory_bytes}};
}

std::string number(double x) {
  return fmt::format("{:.{}f}", x, x < 10 ? 2 : x < 1000 ? 1 : 0);
}

std::string percent(const std::optional<Spread>& share) {
  return share ? fmt::format("{:.0f}% ({:.0f} to {:.0f})", 100 * share->median, 100 * share->min,
                             100 * share->max)
               : "";
}

}  // namespace

Baseline Baseline::read(const std::string& file) {
  if (!std::filesystem::exists(file)) fail(ErrorKind::kIo, "{}: there is no such file", file);
  const Json root = read_json_object<Json>(file);
  Baseline baseline;
  try {
    for (const Json& r : root.at("results")) {
      Saved saved = {.value = r.at("value").at("median")};
      if (!r.at("share").is_null()) saved.share = r.at("share").at("median");
      baseline.saved_[key_of(r.at("name"), r.at("threads"))] = saved;
    }
  } catch (const Json::exception& error) {
    bad_input("{}: not a result of ft-bench --json: {}", file, error.what());
  }
  return baseline;
}

std::optional<double> Baseline::ratio(const Result& result) const {
  const auto found = saved_.find(key_of(result.name, result.n_threads));
  if (found == saved_.end()) return std::nullopt;
  if (result.share && found->second.share) return result.share->median / *found->second.share;
  return result.is_more_better ? result.value.median / found->second.value
                               : found->second.value / result.value.median;
}

void print_head(const RunInfo& info) {
  const MachineReport machine = describe_machine();
  fmt::print("{}, {} of {} CPUs, {}{}; bank of {}; medians of {} (least to most)\n",
             machine.cpu_name, machine.n_cpus_allowed, machine.n_cpus_online,
             info.commit.empty() ? "commit not told" : "commit ", info.commit,
             format_bytes(info.bank_bytes), info.measure.n_repetitions);
  if (info.probe.is_short()) {
    fmt::print("memory is short: the rate is of {}, which is little beside {} of caches\n",
               format_bytes(info.probe.n_bytes), format_bytes(info.probe.cache_bytes));
  }
  fmt::print("{:<54} {:>4} {:>8} {:<8} {:>18} {:>18} {:>10} {:>10} {:>8}\n", "case", "thr.",
             "value", "", "of read", "of multiply peak", "read GB/s", "peak", "to base");
}

void print_row(const Result& r, std::optional<double> ratio) {
  fmt::print("{:<54} {:>4} {:>8} {:<8} {:>18} {:>18} {:>10} {:>10} {:>8}\n", r.name, r.n_threads,
             number(r.value.median), r.unit, percent(r.share_of_read), percent(r.share_of_peak),
             r.read_gbps ? number(r.read_gbps->median) : "",
             r.peak_gflops ? number(r.peak_gflops->median) : "",
             ratio ? fmt::format("{:.2f}", *ratio) : "");
  std::fflush(stdout);
}

std::string to_json(const RunInfo& info, const std::vector<Result>& results,
                    const Baseline& baseline) {
  Json rows = Json::array();
  for (const Result& result : results) rows.push_back(json_of(result, baseline.ratio(result)));
  const Json root = {
      {"machine", machine_json()},
      {"commit", info.commit},
      {"command", info.command},
      {"repetitions", info.measure.n_repetitions},
      {"seconds", info.measure.seconds},
      {"bank_bytes", info.bank_bytes},
      {"probe_bytes", info.probe.n_bytes},
      {"cache_bytes", info.probe.cache_bytes},
      {"huge_page_share", info.huge_page_share ? Json(*info.huge_page_share) : Json(nullptr)},
      {"results", rows}};
  return root.dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace ft::bench
