// Memory limits over made-up control groups, and this machine as other tools see it.
#include "device/machine.h"

#include <sys/sysinfo.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "base/cpus.h"
#include "base/team.h"
#include "device/cuda_device.h"
#include "device/read_probe.h"

namespace ft {
namespace {

namespace fs = std::filesystem;

class FakeMemory : public testing::Test {
 protected:
  FakeMemory() {
    std::string name = (fs::temp_directory_path() / "ft-memory-XXXXXX").string();
    root_ = mkdtemp(name.data());
    put("proc/meminfo",
        "MemTotal:       16000000 kB\nMemFree:  1000 kB\nMemAvailable:   12000000 kB\n");
  }
  ~FakeMemory() override { fs::remove_all(root_); }

  void put(const std::string& file, const std::string& text) {
    const fs::path path = root_ / file;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  MemoryFigures figures() { return memory_figures_in(root_.string()); }

  fs::path root_;
};

TEST_F(FakeMemory, WithoutControlGroups) {
  EXPECT_EQ(figures().total_bytes, 16'000'000ull * 1024);
  EXPECT_EQ(figures().available_bytes, 12'000'000ull * 1024);
}

TEST_F(FakeMemory, TheTightestGroupOnTheWayUpCounts) {
  put("proc/self/cgroup", "0::/a/b\n");
  put("sys/fs/cgroup/a/b/memory.max", "max\n");
  put("sys/fs/cgroup/a/b/memory.current", "100\n");
  put("sys/fs/cgroup/a/memory.max", "8000000000\n");
  put("sys/fs/cgroup/a/memory.current", "5000000000\n");
  EXPECT_EQ(figures().total_bytes, 8'000'000'000u);
  EXPECT_EQ(figures().available_bytes, 3'000'000'000u);
  // A file that was just downloaded sits in the group's page cache; it must not make a load
  // impossible.
  put("sys/fs/cgroup/a/memory.stat",
      "anon 1\ninactive_file 2000000000\nactive_file 1500000000\nfile 4\n");
  EXPECT_EQ(figures().available_bytes, 6'500'000'000u);
  put("sys/fs/cgroup/a/b/memory.max", "1000000000\n");
  put("sys/fs/cgroup/a/b/memory.current", "2000000000\n");
  EXPECT_EQ(figures().total_bytes, 1'000'000'000u);
  EXPECT_EQ(figures().available_bytes, 0u);
}

TEST_F(FakeMemory, OldControlGroups) {
  put("proc/self/cgroup", "4:memory:/box\n0::/\n");
  put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");  // "no limit"
  put("sys/fs/cgroup/memory/memory.usage_in_bytes", "5000000000\n");
  EXPECT_EQ(figures().available_bytes, 12'000'000ull * 1024);
  put("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "4000000000\n");
  put("sys/fs/cgroup/memory/box/memory.usage_in_bytes", "1000000000\n");
  put("sys/fs/cgroup/memory/box/memory.stat", "inactive_file 1\ntotal_inactive_file 500000000\n");
  EXPECT_EQ(figures().total_bytes, 4'000'000'000u);
  EXPECT_EQ(figures().available_bytes, 3'500'000'000u);
}

TEST_F(FakeMemory, MalformedFilesChangeNothing) {
  put("proc/self/cgroup", "0::/\n");
  put("sys/fs/cgroup/memory.max", "-5\n");
  put("sys/fs/cgroup/memory.current", "many\n");
  EXPECT_EQ(figures().available_bytes, 12'000'000ull * 1024);
  put("sys/fs/cgroup/memory.max", "99999999999999999999999\n");
  EXPECT_EQ(figures().total_bytes, 16'000'000ull * 1024);
  put("proc/meminfo", "nothing\n");
  EXPECT_EQ(figures().total_bytes, 0u);
}

TEST_F(FakeMemory, ACacheThatSeveralCpusShareCountsOnce) {
  const auto put_cache = [&](int id, const std::string& size, const std::string& sharers) {
    const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(id) + "/cache/index3/";
    put(folder + "size", size + "\n");
    put(folder + "shared_cpu_list", sharers + "\n");
  };
  put_cache(0, "98304K", "0-1,8-9");
  put_cache(1, "98304K", "0-1,8-9");
  put_cache(2, "98304K", "2-3");
  put_cache(4, "many", "4");
  const auto bytes = [&](const std::vector<int>& ids) {
    std::vector<Cpu> cpus;
    for (const int id : ids) cpus.push_back({.id = id, .core = id});
    return shared_cache_bytes_in(root_.string(), cpus);
  };
  EXPECT_EQ(bytes({0, 1}), uint64_t{96} << 20);
  EXPECT_EQ(bytes({0, 1, 2, 4, 5}), uint64_t{192} << 20);
  EXPECT_EQ(bytes({4, 5}), 0u);
  EXPECT_EQ(bytes({}), 0u);
}

TEST(ReadProbe, IsLargerThanTheCachesAsFarAsThereIsMemory) {
  constexpr uint64_t kMiB = 1 << 20;
  struct Case {
    uint64_t cache_mib, available_mib, probe_mib;
    bool is_short;
  };
  for (const Case& c :
       {Case{0, 100'000, 512, false}, Case{32, 100'000, 512, false}, Case{128, 100'000, 512, false},
        Case{129, 100'000, 516, false}, Case{384, 100'000, 1536, false},
        Case{1152, 100'000, 4608, false}, Case{1152, 16'000, 2000, true},
        Case{32, 2048, 256, false}, Case{32, 100, 64, true}, Case{32, 0, 64, true}}) {
    const ProbeSize size = probe_size(c.cache_mib * kMiB, c.available_mib * kMiB);
    EXPECT_EQ(size.n_bytes, c.probe_mib * kMiB) << c.cache_mib << " " << c.available_mib;
    EXPECT_EQ(size.is_short(), c.is_short) << c.cache_mib << " " << c.available_mib;
  }
}

TEST(Machine, AgreesWithTheSystem) {
  const MachineReport report = describe_machine();
  EXPECT_FALSE(report.cpu_name.empty());
  EXPECT_EQ(report.n_cpus_allowed, static_cast<int>(allowed_cpus().cpus.size()));
  EXPECT_GE(report.n_cpus_online, report.n_cpus_allowed);
  struct sysinfo info {};
  ASSERT_EQ(sysinfo(&info), 0);
  EXPECT_LE(report.memory_bytes, uint64_t{info.totalram} * info.mem_unit);
  EXPECT_GT(report.memory_bytes, 0u);
  EXPECT_LE(report.memory_available_bytes, report.memory_bytes);
  if (cuda_device() == nullptr) {
    EXPECT_TRUE(report.gpus.empty());
  }
}

TEST(Machine, ReadSpeedIsPlausible) {
  Team team(static_cast<int>(allowed_cpus().cpus.size()));
  const ReadRate rate = measure_read_rate(team);
  const double gbps = rate.gbps;
  EXPECT_GE(rate.probe_bytes, uint64_t{64} << 20);
  std::printf("reads %.1f GB/s with %d threads\n", gbps, team.n_threads());
  EXPECT_GT(gbps, 0.5);    // slower than any machine of the last twenty years
  EXPECT_LT(gbps, 10000);  // faster than caches: the loop was dropped
}

}  // namespace
}  // namespace ft
