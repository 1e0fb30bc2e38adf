// allowed_cpus over made-up machines, and over this one.
#include "base/cpus.h"

#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/system_files.h"

namespace ft {
namespace {

namespace fs = std::filesystem;

/// A root folder that is filled file by file and removed at the end.
class FakeMachine : public testing::Test {
 protected:
  FakeMachine() {
    std::string name = (fs::temp_directory_path() / "ft-cpus-XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~FakeMachine() override { fs::remove_all(root_); }

  void put(const std::string& file, const std::string& text) {
    const fs::path path = root_ / file;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  void put_cpu(int id, int package, int core, const std::string& siblings) {
    const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(id) + "/topology/";
    put(folder + "physical_package_id", std::to_string(package) + "\n");
    put(folder + "core_id", std::to_string(core) + "\n");
    if (!siblings.empty()) put(folder + "thread_siblings_list", siblings + "\n");
  }

  /// Two sockets of two cores of two threads: CPUs 0-3 are the first threads, 4-7 the second ones.
  void put_two_sockets(bool with_siblings) {
    put("sys/devices/system/cpu/online", "0-7\n");
    for (int id = 0; id < 8; ++id) {
      const int core = id % 4;
      put_cpu(id, core / 2, core % 2,
              with_siblings ? std::to_string(core) + "," + std::to_string(core + 4) : "");
    }
    put("sys/devices/system/node/online", "0-1\n");
    put("sys/devices/system/node/node0/cpulist", "0-1,4-5\n");
    put("sys/devices/system/node/node1/cpulist", "2-3,6-7\n");
  }

  AllowedCpus allowed(std::vector<int> affinity) {
    return allowed_cpus_in(root_.string(), affinity);
  }

  fs::path root_;
};

std::vector<int> up_to(int n) {
  std::vector<int> ids(static_cast<size_t>(n));
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

std::vector<int> ids_of(const AllowedCpus& allowed) {
  std::vector<int> ids;
  for (const Cpu& cpu : allowed.cpus) ids.push_back(cpu.id);
  return ids;
}

using Ids = std::vector<int>;

TEST_F(FakeMachine, PhysicalCoresComeFirstNodeByNode) {
  for (const bool with_siblings : {true, false}) {
    put_two_sockets(with_siblings);
    const AllowedCpus all = allowed(up_to(8));
    EXPECT_EQ(ids_of(all), (Ids{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(all.n_cores, 4);
    EXPECT_EQ(all.n_online, 8);
    EXPECT_EQ(all.n_nodes, 2);
    EXPECT_EQ(all.limit, "");
    EXPECT_EQ(all.cpus[5].core, all.cpus[1].core);
    EXPECT_FALSE(all.cpus[5].is_first_of_core);
    EXPECT_EQ(all.cpus[2].node, 1);
    fs::remove_all(root_ / "sys");
  }
}

TEST_F(FakeMachine, NeighbouringNumbersCanBeThreadsOfOneCore) {
  put("sys/devices/system/cpu/online", "0-3\n");
  for (int id = 0; id < 4; ++id) put_cpu(id, 0, id / 2, id < 2 ? "0-1" : "2-3");
  const AllowedCpus all = allowed(up_to(4));
  EXPECT_EQ(ids_of(all), (Ids{0, 2, 1, 3}));
  EXPECT_EQ(all.n_cores, 2);
}

TEST_F(FakeMachine, AffinityMaskKeepsTheFirstAllowedThreadOfACore) {
  put_two_sockets(true);
  const AllowedCpus some = allowed({7, 4, 2});
  EXPECT_EQ(ids_of(some), (Ids{4, 2, 7}));  // node 0 first
  EXPECT_TRUE(some.cpus[0].is_first_of_core);
  EXPECT_EQ(some.n_cores, 3);
  EXPECT_EQ(some.limit, "affinity mask");
  const AllowedCpus siblings = allowed({5, 1});
  EXPECT_EQ(ids_of(siblings), (Ids{1, 5}));
  EXPECT_EQ(siblings.n_cores, 1);
  EXPECT_FALSE(siblings.is_cut_by_quota);
  EXPECT_EQ(siblings.n_nodes, 1);
}

TEST_F(FakeMachine, QuotaOfTheWholePathIsRoundedDown) {
  put_two_sockets(true);
  put("proc/self/cgroup", "0::/outer/inner\n");
  put("sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n");
  put("sys/fs/cgroup/outer/cpu.max", "350000 100000\n");
  const AllowedCpus three = allowed(up_to(8));
  EXPECT_EQ(ids_of(three), (Ids{0, 1, 2}));
  EXPECT_EQ(three.limit, "cgroup quota 3.5 CPUs");
  EXPECT_TRUE(three.is_cut_by_quota);
  put("sys/fs/cgroup/outer/inner/cpu.max", "150000 100000\n");
  EXPECT_EQ(ids_of(allowed(up_to(8))), (Ids{0}));
  put("sys/fs/cgroup/outer/inner/cpu.max", "10000 100000\n");
  EXPECT_EQ(ids_of(allowed(up_to(8))), (Ids{0}));
  put("sys/fs/cgroup/cpu.max", "99999999 100000\n");
  EXPECT_EQ(allowed(up_to(8)).limit, "cgroup quota 0.1 CPUs");
}

TEST_F(FakeMachine, OldControlGroups) {
  put_two_sockets(true);
  put("proc/self/cgroup", "9:name=systemd:/\n4:cpu,cpuacct:/box\n3:cpuset:/box\n0::/\n");
  put("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "-1\n");
  put("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000\n");
  put("sys/fs/cgroup/cpuset/box/cpuset.cpus", "0-1,4-5\n");
  put("sys/fs/cgroup/cpuset/cpuset.cpus", "0-7\n");
  EXPECT_EQ(ids_of(allowed(up_to(8))), (Ids{0, 1, 4, 5}));
  EXPECT_EQ(allowed(up_to(8)).limit, "cgroup cpuset");
  put("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "250000\n");
  EXPECT_EQ(ids_of(allowed(up_to(8))), (Ids{0, 1}));
  EXPECT_EQ(allowed({0, 1, 2, 4, 5}).limit, "cgroup cpuset, cgroup quota 2.5 CPUs");
}

TEST_F(FakeMachine, ContainerThatSeesOnlyItsOwnGroup) {
  put_two_sockets(true);
  // Without a cgroup namespace the path is the host's, but the mount shows the container's own
  // group as its root.
  put("proc/self/cgroup", "2:cpu:/docker/0123abcd\n");
  put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n");
  put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(allowed(up_to(8)).cpus.size(), 2u);
  put("proc/self/cgroup", "2:cpu:/../../elsewhere\n");
  EXPECT_EQ(allowed(up_to(8)).cpus.size(), 2u);
}

TEST_F(FakeMachine, CpusetAndMaskAreToldApart) {
  put_two_sockets(true);
  put("proc/self/cgroup", "0::/a\n");
  put("sys/fs/cgroup/a/cpuset.cpus.effective", "0-3\n");
  EXPECT_EQ(allowed(up_to(4)).limit, "cgroup cpuset");  // the kernel took 4-7 out of the mask
  EXPECT_EQ(allowed({0, 1}).limit, "affinity mask, cgroup cpuset");
  put("sys/fs/cgroup/a/cpuset.cpus.effective", "6\n");  // contradicts the mask, which rules
  EXPECT_EQ(ids_of(allowed({0, 1})), (Ids{0, 1}));
}

TEST_F(FakeMachine, NothingReadableLeavesTheMask) {
  const AllowedCpus two = allowed({3, 1});
  EXPECT_EQ(ids_of(two), (Ids{1, 3}));
  EXPECT_EQ(two.n_cores, 2);
  EXPECT_EQ(two.n_online, 2);
  EXPECT_EQ(two.n_nodes, 1);
  EXPECT_EQ(two.limit, "");
  EXPECT_EQ(ids_of(allowed({})), (Ids{0}));
}

TEST_F(FakeMachine, MalformedFilesCountAsAbsent) {
  for (const std::string junk :
       {"", "x", "-", "0-", "3-1", "0-99999999999999999999", "1,,2", "0-65535,0-65535", "-1 -1",
        "100000", "100000 0", "nan 100000", "1e5 100000"}) {
    fs::remove_all(root_);
    put("sys/devices/system/cpu/online", junk);
    put_cpu(0, 0, 0, junk);
    put("sys/devices/system/cpu/cpu1/topology/core_id", junk);
    put("sys/devices/system/cpu/cpu1/topology/physical_package_id", junk);
    put("sys/devices/system/node/online", junk);
    put("proc/self/cgroup", "0::/\n" + junk + "\n:::\n1:cpu:\n");
    put("sys/fs/cgroup/cpu.max", junk);
    put("sys/fs/cgroup/cpuset.cpus.effective", junk);
    const AllowedCpus both = allowed({0, 1});
    EXPECT_EQ(ids_of(both), (Ids{0, 1})) << junk;
    EXPECT_EQ(both.n_cores, 2) << junk;
  }
}

TEST(AllowedCpus, AgreesWithTheKernelOnThisMachine) {
  cpu_set_t mask;
  ASSERT_EQ(sched_getaffinity(getpid(), sizeof mask, &mask), 0);
  const AllowedCpus allowed = allowed_cpus();
  ASSERT_FALSE(allowed.cpus.empty());
  for (const Cpu& cpu : allowed.cpus) EXPECT_TRUE(CPU_ISSET(cpu.id, &mask)) << cpu.id;
  if (allowed.limit.empty()) {
    EXPECT_EQ(static_cast<int>(allowed.cpus.size()), CPU_COUNT(&mask));
    EXPECT_EQ(allowed.n_online, sysconf(_SC_NPROCESSORS_ONLN));
  }
}

TEST(AllowedCpus, APinnedThreadGetsTheProcesssAnswer) {
  const size_t n_cpus = allowed_cpus().cpus.size();
  size_t n_seen = 0;
  std::thread([&] {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    CPU_SET(allowed_cpus().cpus.front().id, &mask);
    ASSERT_EQ(sched_setaffinity(0, sizeof mask, &mask), 0);
    n_seen = allowed_cpus().cpus.size();
  }).join();
  EXPECT_EQ(n_seen, n_cpus);
}

TEST(SystemFiles, IdLists) {
  EXPECT_EQ(parse_id_list("0-2,5"), (Ids{0, 1, 2, 5}));
  EXPECT_EQ(parse_id_list("7,1,1-2"), (Ids{1, 2, 7}));
  EXPECT_EQ(parse_id_list(""), Ids{});
  for (const char* bad : {"a", "1-", "-1", "2-1", "1,,2", "0-65536", "1 ", "0x1", "1-2-3"}) {
    EXPECT_EQ(parse_id_list(bad), std::nullopt) << bad;
  }
}

TEST(SystemFiles, KeysOfLines) {
  const std::string text =
      "MemTotal:       24576 kB\nMemFree: 7 kB\nfile 12\nfile_mapped 3\nlast 9";
  EXPECT_EQ(find_system_value(text, "MemTotal:"), 24576u);
  EXPECT_EQ(find_system_value(text, "file"), 12u);
  EXPECT_EQ(find_system_value(text, "last"), 9u);
  EXPECT_EQ(find_system_value(text, "Mem"), std::nullopt);
  EXPECT_EQ(find_system_value("n\nn \nn x", "n"), std::nullopt);
}

}  // namespace
}  // namespace ft
