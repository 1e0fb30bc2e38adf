#include "bench/rig.h"

#include "kernels/cpu/select.h"
#include "kernels/ops.h"
#include "tests/support/random_weights.h"

namespace ft::bench {
namespace {

constexpr size_t kArenaBytes = size_t{1} << 30;  // only what is touched takes memory

}  // namespace

Rig::Rig(const std::string& isa, int n_threads, std::optional<uint64_t> probe_bytes)
    : team_(n_threads),
      arena_(kArenaBytes),
      lane_{.ops = &cpu_ops(isa, false), .team = &team_, .arena = &arena_},
      peak_(lane_.ops->name),
      probe_size_(probe_bytes ? ProbeSize{.n_bytes = *probe_bytes}
                              : probe_size_for(team_.n_threads())) {}

void Rig::measure_crossovers() {
  lane_.crossovers = ft::measure_crossovers(lane_, test::all_formats());
}

double Rig::read_gbps() {
  if (!probe_) probe_ = std::make_unique<ReadProbe>(team_, probe_size_);
  return probe_->pass_gbps();
}

}  // namespace ft::bench
