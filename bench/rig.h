// Where cases run: a lane on this machine's CPU, and what the same threads reach when they only
// read or only multiply.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/team.h"
#include "bench/peak.h"
#include "device/read_probe.h"
#include "kernels/lane.h"

namespace ft::bench {

class Rig {
 public:
  /// `probe_bytes`: what a plain read goes over, if not what measures this machine's memory. Errors:
  /// kBadInput for a set or a number of threads that is not possible here.
  Rig(const std::string& isa, int n_threads, std::optional<uint64_t> probe_bytes);

  /// From here on the lane takes the kernels that an engine would take on this machine, instead of the
  /// same ones on all machines.
  void measure_crossovers();

  Lane& lane() { return lane_; }
  Team& team() { return team_; }
  ProbeSize probe_size() const { return probe_size_; }
  const Ops& ops() const { return *lane_.ops; }

  /// One pass over the probe's memory, which is allocated at the first.
  double read_gbps();

  /// 0 where the instruction set's peak is not known.
  double float_gflops() { return peak_.float_gflops(team_); }
  double int8_gflops() { return peak_.int8_gflops(team_); }

 private:
  Team team_;
  Arena arena_;
  Lane lane_;
  MultiplyPeak peak_;
  ProbeSize probe_size_;
  std::unique_ptr<ReadProbe> probe_;
};

}  // namespace ft::bench
