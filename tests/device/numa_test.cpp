// The decision over made-up CPUs, and what the kernel says of memory that was asked for so.
#include "device/numa.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/mempolicy.h>

#include "device/buffer.h"

namespace ft {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Nodes = std::vector<int>;

std::vector<Cpu> cpus_of(const Nodes& nodes) {
  std::vector<Cpu> cpus;
  for (const int node : nodes) {
    const int id = static_cast<int>(cpus.size());
    cpus.push_back({.id = id, .core = id, .node = node});
  }
  return cpus;
}

TEST(Numa, MemoryIsSpreadOverTheNodesOfTheThreads) {
  EXPECT_EQ(nodes_to_spread_over(cpus_of({0, 0, 0, 0}), 4), Nodes{});
  EXPECT_EQ(nodes_to_spread_over(cpus_of({3, 3}), 2), Nodes{});
  EXPECT_EQ(nodes_to_spread_over(cpus_of({0, 0, 1, 1}), 4), (Nodes{0, 1}));
  EXPECT_EQ(nodes_to_spread_over(cpus_of({0, 0, 1, 1}), 3), (Nodes{0, 1}));
  EXPECT_EQ(nodes_to_spread_over(cpus_of({0, 0, 1, 1}), 2), Nodes{});
  EXPECT_EQ(nodes_to_spread_over(cpus_of({5, 2, 5, 70}), 4), (Nodes{2, 5, 70}));
  EXPECT_EQ(nodes_to_spread_over(cpus_of({0, 1}), 8), (Nodes{0, 1}));
  EXPECT_EQ(nodes_to_spread_over({}, 1), Nodes{});
}

TEST(Numa, TheKernelKnowsWhatWasAskedFor) {
  Buffer buffer(1 << 20);
  const std::string refusal = spread_over_nodes(buffer.data(), buffer.size(), Nodes{0});
  int policy = 0;
  unsigned long mask[16] = {};
  constexpr unsigned long kBits = sizeof mask * 8;
  const long got =
      syscall(SYS_get_mempolicy, &policy, mask, kBits, buffer.data() + (1 << 19), MPOL_F_ADDR);
  const int error = errno;
  if (got != 0) {  // a kernel without NUMA, or a sandbox
    EXPECT_NE(refusal, "");
    std::printf("NOT CHECKED: memory policies: this system has none: %s\n", std::strerror(error));
    GTEST_SKIP();
  }
  ASSERT_EQ(refusal, "");
  EXPECT_EQ(policy, MPOL_INTERLEAVE);
  EXPECT_EQ(mask[0], 1u);
}

TEST(Numa, ARefusalSaysWhyAndLeavesTheMemoryUsable) {
  Buffer buffer(1 << 20);
  EXPECT_NE(spread_over_nodes(buffer.data(), buffer.size(), Nodes{1000}), "");
  EXPECT_NE(spread_over_nodes(buffer.data() + 1, buffer.size(), Nodes{0}), "");
  std::memset(buffer.data(), 7, buffer.size());
}

TEST(Numa, ANoteSaysWhereExpertsLie) {
  EXPECT_EQ(spread_note({}, ""), "");
  EXPECT_THAT(spread_note(Nodes{0, 1}, ""), HasSubstr("spread over the memory of NUMA nodes 0,1"));
  EXPECT_THAT(spread_note(Nodes{0, 1}, "Not permitted"),
              AllOf(HasSubstr("(Not permitted)"), HasSubstr("--interleave=0,1")));
}

}  // namespace
}  // namespace ft
