// Loading: open and bind the checkpoint, plan, say what is needed, fill the bank.
#include "ft/engine.h"

#include <chrono>
#include <optional>
#include <set>

#include "base/cpus.h"
#include "base/system_files.h"
#include "device/cuda_device.h"
#include "device/huge_pages.h"
#include "device/machine.h"
#include "device/numa.h"
#include "engine/opened_model.h"
#include "engine/runner.h"
#include "engine/session.h"
#include "files/dummy_tensors.h"
#include "kernels/cpu/select.h"

namespace ft {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<FormatId> formats_of(const Model& model) {
  std::set<FormatId> formats;
  if (model.card().n_moe_layers > 0) formats.insert(model.bank().layout().shape().format);
  for (const auto& [format, tally] : model.weights().dense_tally()) formats.insert(format);
  if (model.dense_bank().n_bytes() > 0) formats.insert(kIdOf<Q8>);
  return {formats.begin(), formats.end()};
}

/// What was measured for these formats, by name.
std::vector<CrossoverReport> report_of(const Crossovers& crossovers,
                                       std::span<const FormatId> formats, bool has_tiles) {
  std::vector<CrossoverReport> rows;
  for (const FormatId format : formats) {
    const Crossovers::Rows& measured = crossovers.at(format);
    rows.push_back({.format = std::string(name_of(format)),
                    .decoded = measured.decoded,
                    .tiles = has_tiles ? std::optional(measured.tiles) : std::nullopt});
  }
  return rows;
}

class CpuEngine : public Engine {
 public:
  explicit CpuEngine(const EngineOptions& options)
      : ops_(cpu_ops(options.isa, options.exact)),
        team_(options.n_threads),
        opened_(open_planned(options, team_.n_threads())),
        report_(report_of(opened_)) {
    if (options.on_model) options.on_model(report_);
    times_.open = seconds_since(begun_);
    load(options);
    times_.all = seconds_since(begun_);
  }

  std::unique_ptr<Session> open_session() override {
    return std::make_unique<RunnerSession>(*runner_, report_);
  }
  const ModelReport& model() const override { return report_; }
  const LoadTimes& load_times() const override { return times_; }
  int64_t n_context() const override { return opened_.placement.n_context; }

  ReadRate read_rate() override {
    if (!read_rate_) read_rate_ = measure_read_rate();
    return *read_rate_;
  }
  ReadRate measure_read_rate() override {
    try {
      return ft::measure_read_rate(team_);
    } catch (const Error& error) {  // a figure is not worth the end of a program
      if (error.kind() != ErrorKind::kOutOfMemory) throw;
      return {};
    }
  }

 private:
  static void note(const EngineOptions& options, const std::string& text) {
    if (options.on_note && !text.empty()) options.on_note(text);
  }

  void load(const EngineOptions& options) {
    const Placement& placement = opened_.placement;
    note(options, team_.note());
    if (options.isa == "auto") note(options, isa_note());
    if (cuda_device() != nullptr) {
      note(options, "this version computes on the CPU: graphics cards are not used");
    }
    note(options, describe(placement));
    note(options, opened_.model->dense_bank().describe());
    const uint64_t available_bytes = available_memory_bytes();
    if (available_bytes == 0) {
      note(options, "this system does not say how much memory is free: not checked");
    } else {
      check_fits(placement, available_bytes);
    }
    const Clock::time_point start = Clock::now();
    const uint64_t total_bytes = placement.bank_bytes + placement.q8_bytes;
    const auto report = [&](uint64_t done_bytes) {
      if (!options.on_progress) return;
      options.on_progress(
          {.done_bytes = done_bytes, .total_bytes = total_bytes, .seconds = seconds_since(start)});
    };
    if (total_bytes > 0) reserve(options);
    DummyTensors* const dummy = opened_.checkpoint->dummy();
    if (dummy != nullptr) dummy->fill(team_);
    if (placement.bank_bytes > 0) fill_bank(options, report);
    if (dummy != nullptr) dummy->drop_experts();
    opened_.model->dense_bank().fill(
        team_, [&](uint64_t done_bytes) { report(placement.bank_bytes + done_bytes); });
    report(total_bytes);
    Lane lane = {.ops = &ops_, .team = &team_, .may_round = options.may_round};
    const std::vector<FormatId> formats = formats_of(*opened_.model);
    lane.crossovers = measure_crossovers(lane, formats);
    if (ops_.decodes) report_.crossovers = report_of(lane.crossovers, formats, ops_.has_tiles);
    runner_ = std::make_unique<Runner>(*opened_.model, placement, lane);
  }

  /// Memory of both banks, whose nodes are told once.
  void reserve(const EngineOptions& options) {
    const std::vector<int> nodes = nodes_to_spread_over(allowed_cpus().cpus, team_.n_threads());
    std::string refusal;
    if (opened_.placement.bank_bytes > 0) refusal = opened_.model->bank().reserve(nodes);
    if (opened_.placement.q8_bytes > 0) {
      const std::string of_dense = opened_.model->dense_bank().reserve(nodes);
      if (refusal.empty()) refusal = of_dense;
    }
    note(options, spread_note(nodes, refusal));
  }

  void fill_bank(const EngineOptions& options, const std::function<void(uint64_t)>& report) {
    const Clock::time_point start = Clock::now();
    ExpertBank& bank = opened_.model->bank();
    bank.fill(team_, report);
    times_.experts = seconds_since(start);
    report_.bank_huge_page_share = bank.huge_page_share();
    note(options, huge_page_note(report_.bank_huge_page_share.value_or(1), bank.n_bytes(),
                                 read_system_file(kHugePagesFile).value_or("")));
  }

  const Clock::time_point begun_ = Clock::now();
  const Ops& ops_;
  Team team_;
  OpenedModel opened_;
  ModelReport report_;
  LoadTimes times_;
  std::unique_ptr<Runner> runner_;
  std::optional<ReadRate> read_rate_;
};

}  // namespace

std::unique_ptr<Engine> Engine::load(const EngineOptions& options) {
  return std::make_unique<CpuEngine>(options);
}

}  // namespace ft
