// The one answer to "which CPUs may I use".
#pragma once

#include <string>
#include <vector>

namespace ft {

struct Cpu {
  int id = 0;                    // as the kernel numbers it
  int core = 0;                  // physical core, unique over the machine
  int node = 0;                  // NUMA node
  bool is_first_of_core = true;  // the first allowed hardware thread of its core
};

struct AllowedCpus {
  std::vector<Cpu> cpus;  // physical cores first (node by node), then their other hardware threads
  int n_cores = 0;        // physical cores among them
  bool is_cut_by_quota = false;  // others would do as well: threads need not stay on these
  int n_online = 0;              // logical processors of the machine
  int n_nodes = 1;               // NUMA nodes among them
  std::string limit;  // what made it fewer than online: "affinity mask", "cgroup quota 1.5 CPUs",
                      // "cgroup cpuset"; or ""
};

/// Affinity mask, cgroup v1 or v2 cpuset and quota (rounded down, at least one), sysfs topology.
/// Read anew at each call.
AllowedCpus allowed_cpus();

/// The same over a root folder with sys/ and proc/ below it, and a given affinity mask: for tests.
AllowedCpus allowed_cpus_in(const std::string& root, const std::vector<int>& affinity);

}  // namespace ft
