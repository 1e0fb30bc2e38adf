// Affinity mask, control groups and topology, put together.
#include "base/cpus.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/system_files.h"

namespace ft {
namespace {

std::vector<int> process_affinity() {
  // The mask of the main thread: a worker that is pinned itself still gets the process's answer.
  for (const pid_t pid : {getpid(), 0}) {
    for (size_t n_ids = 1024; n_ids <= 65536; n_ids *= 2) {
      std::vector<cpu_set_t> mask(n_ids / CPU_SETSIZE);
      const size_t n_bytes = mask.size() * sizeof(cpu_set_t);
      if (sched_getaffinity(pid, n_bytes, mask.data()) != 0) {
        if (errno == EINVAL) continue;  // more CPUs than the mask has room for
        break;
      }
      std::vector<int> ids;
      for (size_t id = 0; id < n_ids; ++id) {
        if (CPU_ISSET_S(id, n_bytes, mask.data())) ids.push_back(static_cast<int>(id));
      }
      return ids;
    }
  }
  return {};
}

std::optional<std::vector<int>> read_id_list(const std::string& file) {
  const auto text = read_system_file(file);
  if (!text || text->empty()) return std::nullopt;
  return parse_id_list(*text);
}

bool contains(const std::vector<int>& ascending, int id) {
  return std::binary_search(ascending.begin(), ascending.end(), id);
}

/// The CPUs that every cpuset on the way up allows; nothing if no cpuset says anything.
std::optional<std::vector<int>> cpuset_in(const std::string& root) {
  const CgroupFolders folders = cgroup_folders(root, "cpuset");
  std::optional<std::vector<int>> allowed;
  const auto narrow = [&](const std::string& file) {
    const auto ids = read_id_list(file);
    if (!ids) return;
    if (allowed) {
      std::erase_if(*allowed, [&](int id) { return !contains(*ids, id); });
    } else {
      allowed = ids;
    }
  };
  for (const std::string& folder : folders.v2) narrow(folder + "/cpuset.cpus.effective");
  for (const std::string& folder : folders.v1) narrow(folder + "/cpuset.cpus");
  return allowed;
}

/// quota / period of "150000 100000"; nothing for "max 100000" and for what makes no sense.
std::optional<double> parse_quota(std::string_view quota, std::string_view period) {
  const auto quota_us = parse_system_number(quota);
  const auto period_us = parse_system_number(period);
  if (!quota_us || !period_us || *quota_us == 0 || *period_us == 0) return std::nullopt;
  return static_cast<double>(*quota_us) / static_cast<double>(*period_us);
}

/// The smallest quota on the way up, in CPUs.
std::optional<double> quota_in(const std::string& root) {
  const CgroupFolders folders = cgroup_folders(root, "cpu");
  std::optional<double> least;
  const auto narrow = [&](std::optional<double> quota) {
    if (quota && (!least || *quota < *least)) least = quota;
  };
  for (const std::string& folder : folders.v2) {
    const std::string text = read_system_file(folder + "/cpu.max").value_or("");
    const size_t space = text.find(' ');
    if (space == std::string::npos) continue;
    narrow(parse_quota(std::string_view(text).substr(0, space),
                       std::string_view(text).substr(space + 1)));
  }
  for (const std::string& folder : folders.v1) {
    const std::string quota = read_system_file(folder + "/cpu.cfs_quota_us").value_or("");
    const std::string period = read_system_file(folder + "/cpu.cfs_period_us").value_or("");
    narrow(parse_quota(quota, period));  // -1, no limit, is no number here
  }
  return least;
}

/// CPU id to NUMA node; CPUs that no node lists are left out.
std::map<int, int> nodes_in(const std::string& root) {
  std::map<int, int> node_of;
  const std::string top = root + "/sys/devices/system/node";
  for (const int node : read_id_list(top + "/online").value_or(std::vector<int>{})) {
    const auto cpus = read_id_list(fmt::format("{}/node{}/cpulist", top, node));
    for (const int id : cpus.value_or(std::vector<int>{})) node_of.emplace(id, node);
  }
  return node_of;
}

/// The lowest CPU id of each CPU's physical core, which serves as the core's number. A CPU without
/// topology is its own core.
std::map<int, int> cores_in(const std::string& root, const std::vector<int>& online) {
  std::map<int, int> core_of;
  std::map<std::pair<uint64_t, uint64_t>, int> first_of;  // package and core id -> lowest CPU
  for (const int id : online) {
    const std::string folder = fmt::format("{}/sys/devices/system/cpu/cpu{}/topology/", root, id);
    core_of[id] = id;
    const auto siblings = read_id_list(folder + "thread_siblings_list");
    if (siblings && contains(*siblings, id)) {
      core_of[id] = siblings->front();
      continue;
    }
    const auto package =
        parse_system_number(read_system_file(folder + "physical_package_id").value_or(""));
    const auto core = parse_system_number(read_system_file(folder + "core_id").value_or(""));
    if (package && core)
      core_of[id] = first_of.emplace(std::pair(*package, *core), id).first->second;
  }
  return core_of;
}

/// Physical cores first, node by node, then their other hardware threads in the same order.
void order_by_core(std::vector<Cpu>& cpus) {
  std::set<int> seen;
  for (Cpu& cpu : cpus) cpu.is_first_of_core = seen.insert(cpu.core).second;
  std::sort(cpus.begin(), cpus.end(), [](const Cpu& a, const Cpu& b) {
    return std::tuple(!a.is_first_of_core, a.node, a.id) <
           std::tuple(!b.is_first_of_core, b.node, b.id);
  });
}

void add_reason(std::string& reasons, std::string_view reason) {
  if (!reasons.empty()) reasons += ", ";
  reasons += reason;
}

/// The CPUs that are in the mask and in the cpuset, with the reasons for those that are not.
AllowedCpus select_cpus(const std::string& root, const std::vector<int>& mask,
                        const std::vector<int>& online) {
  const auto cpuset = cpuset_in(root);
  const auto node_of = nodes_in(root);
  const auto core_of = cores_in(root, online);
  AllowedCpus allowed;
  std::vector<Cpu> only_in_mask;
  bool is_masked = false, is_outside_any = false;
  for (const int id : online) {
    const bool is_outside = cpuset && !contains(*cpuset, id);
    is_outside_any = is_outside_any || is_outside;
    if (!contains(mask, id)) {
      // The kernel takes what a cpuset forbids out of the mask as well: then the cpuset is the
      // reason.
      is_masked = is_masked || !is_outside;
      continue;
    }
    const auto node = node_of.find(id);
    const Cpu cpu{
        .id = id, .core = core_of.at(id), .node = node == node_of.end() ? 0 : node->second};
    (is_outside ? only_in_mask : allowed.cpus).push_back(cpu);
  }
  if (is_masked) add_reason(allowed.limit, "affinity mask");
  if (allowed.cpus.empty()) {  // such a cpuset contradicts the kernel, which lets this process run
    allowed.cpus = only_in_mask;
  } else if (is_outside_any) {
    add_reason(allowed.limit, "cgroup cpuset");
  }
  return allowed;
}

void apply_quota(const std::string& root, AllowedCpus& allowed) {
  const auto quota = quota_in(root);
  if (!quota || *quota >= static_cast<double>(allowed.cpus.size())) return;
  allowed.is_cut_by_quota = true;
  add_reason(allowed.limit, fmt::format("cgroup quota {:.1f} CPUs", *quota));
  allowed.cpus.resize(static_cast<size_t>(std::max(1.0, std::floor(*quota))));
}

}  // namespace

AllowedCpus allowed_cpus() {
  return allowed_cpus_in("", process_affinity());
}

AllowedCpus allowed_cpus_in(const std::string& root, const std::vector<int>& affinity) {
  std::vector<int> mask = affinity;
  std::sort(mask.begin(), mask.end());
  if (mask.empty()) mask = {0};
  std::vector<int> online = read_id_list(root + "/sys/devices/system/cpu/online").value_or(mask);
  // A mask that shares no CPU with sysfs comes with a sysfs that is not about this machine.
  if (std::none_of(mask.begin(), mask.end(), [&](int id) { return contains(online, id); })) {
    online = mask;
  }
  AllowedCpus allowed = select_cpus(root, mask, online);
  order_by_core(allowed.cpus);
  apply_quota(root, allowed);

  std::set<int> nodes;
  for (const Cpu& cpu : allowed.cpus) {
    nodes.insert(cpu.node);
    allowed.n_cores += cpu.is_first_of_core ? 1 : 0;
  }
  allowed.n_nodes = static_cast<int>(nodes.size());
  allowed.n_online = static_cast<int>(online.size());
  return allowed;
}

}  // namespace ft
