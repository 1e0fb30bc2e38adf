// Facts from proc, sysfs and control groups, and the measured speed of memory.
#include "device/machine.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "base/cpus.h"
#include "base/system_files.h"
#include "base/team.h"
#include "device/cuda_device.h"
#include "device/read_probe.h"

namespace ft {
namespace {

/// How the two versions of control groups spell the same three facts.
struct MemoryFiles {
  const char* limit;
  const char* used;
  const char* inactive_file;
  const char* active_file;
};
constexpr MemoryFiles kV2{"/memory.max", "/memory.current", "inactive_file", "active_file"};
constexpr MemoryFiles kV1{"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file",
                          "total_active_file"};

/// Lowers the figures to what one control group leaves; a group without a limit changes nothing.
void apply_group(const std::string& folder, const MemoryFiles& files, MemoryFigures& figures) {
  const auto limit = parse_system_number(read_system_file(folder + files.limit).value_or(""));
  const auto used = parse_system_number(read_system_file(folder + files.used).value_or(""));
  if (!limit) return;
  figures.total_bytes = std::min(figures.total_bytes, *limit);
  if (!used) return;
  const std::string stat = read_system_file(folder + "/memory.stat").value_or("");
  const uint64_t cache = find_system_value(stat, files.inactive_file).value_or(0) +
                         find_system_value(stat, files.active_file).value_or(0);
  const uint64_t held = *used > cache ? *used - cache : 0;
  figures.available_bytes = std::min(figures.available_bytes, *limit > held ? *limit - held : 0);
}

std::string cpu_name() {
  const std::string text = read_system_file("/proc/cpuinfo").value_or("");
  const size_t key = text.find("model name");
  if (key == std::string::npos) return "unknown CPU";
  const size_t colon = std::min(text.find(": ", key), text.size());
  const size_t end = std::min(text.find('\n', key), text.size());
  return colon + 2 <= end ? text.substr(colon + 2, end - colon - 2) : "unknown CPU";
}

}  // namespace

MemoryFigures memory_figures_in(const std::string& root) {
  const std::string meminfo = read_system_file(root + "/proc/meminfo").value_or("");
  MemoryFigures figures;
  figures.total_bytes = find_system_value(meminfo, "MemTotal:").value_or(0) * 1024;
  figures.available_bytes = find_system_value(meminfo, "MemAvailable:").value_or(0) * 1024;
  const CgroupFolders folders = cgroup_folders(root, "memory");
  for (const std::string& folder : folders.v2) apply_group(folder, kV2, figures);
  for (const std::string& folder : folders.v1) apply_group(folder, kV1, figures);
  return figures;
}

uint64_t available_memory_bytes() {
  return memory_figures_in("").available_bytes;
}

MachineReport describe_machine() {
  MachineReport report;
  const AllowedCpus cpus = allowed_cpus();
  report.cpu_name = cpu_name();
  report.n_cpus_online = cpus.n_online;
  report.n_cpus_allowed = static_cast<int>(cpus.cpus.size());
  report.n_cores_allowed = cpus.n_cores;
  report.cpu_limit = cpus.limit;
  report.n_numa_nodes = cpus.n_nodes;
  const MemoryFigures memory = memory_figures_in("");
  report.memory_bytes = memory.total_bytes;
  report.memory_available_bytes = memory.available_bytes;
  if (const DeviceApi* cuda = cuda_device()) {
    report.gpus = cuda->list(report.why_no_gpu);
  } else {
    report.why_no_gpu = "this program was built without CUDA";
  }
  return report;
}

uint64_t shared_cache_bytes_in(const std::string& root, std::span<const Cpu> cpus) {
  std::set<std::string> seen;
  uint64_t n_bytes = 0;
  for (const Cpu& cpu : cpus) {
    const std::string folder =
        fmt::format("{}/sys/devices/system/cpu/cpu{}/cache/index3/", root, cpu.id);
    const std::string size = read_system_file(folder + "size").value_or("");  // "32768K"
    if (!size.ends_with('K')) continue;
    const std::string sharers =
        read_system_file(folder + "shared_cpu_list").value_or(std::to_string(cpu.id));
    if (!seen.insert(sharers).second) continue;
    n_bytes += parse_system_number(std::string_view(size).substr(0, size.size() - 1)).value_or(0)
               << 10;
  }
  return n_bytes;
}

ReadRate measure_read_rate(Team& team) {
  constexpr int kPasses = 3;
  ReadProbe probe(team, probe_size_for(team.n_threads()));
  std::array<double, kPasses> gbps;
  for (double& pass : gbps) pass = probe.pass_gbps();
  std::sort(gbps.begin(), gbps.end());
  return {.gbps = gbps[kPasses / 2],
          .probe_bytes = probe.size().n_bytes,
          .cache_bytes = probe.size().cache_bytes,
          .is_short = probe.size().is_short()};
}

}  // namespace ft
