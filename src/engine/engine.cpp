// Loading: open and bind the checkpoint, plan, say what is needed, fill the bank.
#include "ft/engine.h"

#include <chrono>

#include "base/error.h"
#include "device/machine.h"
#include "engine/report.h"
#include "engine/runner.h"
#include "engine/session.h"
#include "files/checkpoint.h"
#include "kernels/cpu/select.h"
#include "models/registry.h"

namespace ft {
namespace {

class CpuEngine : public Engine {
 public:
  explicit CpuEngine(const EngineOptions& options)
      : ops_(cpu_ops(options.isa, options.exact)),
        team_(options.n_threads),
        checkpoint_(Checkpoint::open(options.model_dir)),
        model_(open_with(checkpoint_, options)),
        report_(report_of(*model_, checkpoint_, plan(*model_, options, team_.n_threads()))) {
    if (options.on_note && !team_.note().empty()) options.on_note(team_.note());
    load(options);
  }

  std::unique_ptr<Session> open_session() override {
    return std::make_unique<RunnerSession>(*runner_);
  }
  const ModelReport& model() const override { return report_; }
  int64_t n_context() const override { return runner_->placement().n_context; }

  double read_gbps() override {
    if (read_gbps_ == 0) read_gbps_ = measure_read_gbps(team_);
    return read_gbps_;
  }

 private:
  void load(const EngineOptions& options) {
    const Placement placement = plan(*model_, options, team_.n_threads());
    if (options.on_note) options.on_note(describe(placement));
    check_fits(placement, available_memory_bytes());
    const auto start = std::chrono::steady_clock::now();
    const auto report = [&](uint64_t done_bytes) {
      if (!options.on_progress) return;
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
      options.on_progress({.done_bytes = done_bytes,
                           .total_bytes = placement.bank_bytes,
                           .seconds = elapsed.count()});
    };
    model_->bank().fill(team_, report);
    report(placement.bank_bytes);
    runner_ = std::make_unique<Runner>(*model_, placement, team_, ops_);
  }

  const Ops& ops_;
  Team team_;
  Checkpoint checkpoint_;
  std::unique_ptr<Model> model_;
  ModelReport report_;
  std::unique_ptr<Runner> runner_;
  double read_gbps_ = 0;
};

}  // namespace

std::unique_ptr<Engine> Engine::load(const EngineOptions& options) {
  return std::make_unique<CpuEngine>(options);
}

}  // namespace ft
