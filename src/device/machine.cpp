// Facts from proc, sysfs and control groups, and the measured speed of memory.
#include "device/machine.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>

#include "base/cpus.h"
#include "base/error.h"
#include "base/system_files.h"
#include "base/team.h"
#include "device/buffer.h"
#include "device/cuda_device.h"

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

uint64_t load(const std::byte* data) {
  uint64_t value = 0;
  std::memcpy(&value, data, sizeof value);
  return value;
}

/// Eight independent sums in registers, so that neither an addition nor its result's way through
/// memory is what is measured. `n_bytes` is a multiple of 64.
uint64_t sum_of(const std::byte* data, size_t n_bytes) {
  uint64_t a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
  for (const std::byte* end = data + n_bytes; data < end; data += 64) {
    a += load(data);
    b += load(data + 8);
    c += load(data + 16);
    d += load(data + 24);
    e += load(data + 32);
    f += load(data + 40);
    g += load(data + 48);
    h += load(data + 56);
  }
  return a + b + c + d + e + f + g + h;
}

/// Runs `function(member)` once on every member of the team: nobody leaves before all have come.
template <typename Function>
void run_on_each_member(Team& team, Function&& function) {
  std::atomic<int> n_arrived{0};
  team.run(team.n_threads(), 1, [&](int64_t, int64_t, int member) {
    n_arrived.fetch_add(1);
    while (n_arrived.load() < team.n_threads()) std::this_thread::yield();
    function(member);
  });
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

double measure_read_gbps(Team& team) {
  constexpr uint64_t kLeastBytes = uint64_t{64} << 20;
  constexpr uint64_t kMostBytes = uint64_t{512} << 20;  // beyond the caches of most processors
  constexpr int kPasses = 3;
  const size_t n_members = static_cast<size_t>(team.n_threads());
  const size_t n_bytes = std::clamp(available_memory_bytes() / 4, kLeastBytes, kMostBytes);
  const size_t slice_bytes = n_bytes / n_members / 4096 * 4096;
  Buffer pages(slice_bytes * n_members);
  const auto slice_of = [&](int member) {
    return pages.data() + static_cast<size_t>(member) * slice_bytes;
  };
  run_on_each_member(team,
                     [&](int member) { std::memset(slice_of(member), member + 1, slice_bytes); });

  std::atomic<uint64_t> total{0};  // the sums must go somewhere, or the compiler drops the loads
  std::array<double, kPasses> seconds;
  for (double& pass : seconds) {
    const auto begin = std::chrono::steady_clock::now();
    run_on_each_member(team, [&](int member) { total += sum_of(slice_of(member), slice_bytes); });
    pass = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  std::sort(seconds.begin(), seconds.end());
  return static_cast<double>(slice_bytes * n_members) / seconds[kPasses / 2] / 1e9;
}

}  // namespace ft
