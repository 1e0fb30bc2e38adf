// What this computer has, and how fast it measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ft/report.h"

namespace ft {

class Team;

/// CPU name, allowed CPUs, NUMA nodes, memory (the smaller of RAM and the cgroup's limit, v1 or v2)
/// and GPUs. `isa` and `isas` are left empty: kernels/ knows them.
MachineReport describe_machine();

/// Bytes that can be allocated now without swapping: MemAvailable, or less where a cgroup limits
/// it. Page cache that a control group is charged for counts as available, since the kernel drops
/// it on demand.
uint64_t available_memory_bytes();

/// The same over a root folder with sys/ and proc/ below it, for tests. Zero means that nothing
/// says a number.
struct MemoryFigures {
  uint64_t total_bytes = 0;  // RAM, or the smallest limit on the way up the control groups
  uint64_t available_bytes = 0;
};
MemoryFigures memory_figures_in(const std::string& root);

/// GB/s at which the team reads memory: the median of three passes of a ReadProbe. Takes about 0.3 s.
/// Errors: kOutOfMemory.
double measure_read_gbps(Team& team);

}  // namespace ft
