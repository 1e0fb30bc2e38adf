// What this computer has, and how fast it measured.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/cpus.h"
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

/// Bytes of the third-level caches that these CPUs can use, each cache once, as sysfs below `root`
/// says; 0 where it does not.
uint64_t shared_cache_bytes_in(const std::string& root, std::span<const Cpu> cpus);

/// How fast the team reads memory: the median of three passes of a ReadProbe. Takes about 0.3 s, with
/// much larger caches than usual longer. Errors: kOutOfMemory.
ReadRate measure_read_rate(Team& team);

}  // namespace ft
