// The system call itself: one call is not worth a library.
#include "device/numa.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/mempolicy.h>

namespace ft {

std::vector<int> nodes_to_spread_over(std::span<const Cpu> cpus, int n_threads) {
  std::set<int> nodes;
  for (const Cpu& cpu : cpus.first(std::min(cpus.size(), static_cast<size_t>(n_threads)))) {
    nodes.insert(cpu.node);
  }
  return nodes.size() > 1 ? std::vector<int>(nodes.begin(), nodes.end()) : std::vector<int>();
}

std::string spread_over_nodes(std::byte* data, size_t n_bytes, std::span<const int> nodes) {
  constexpr size_t kWordBits = sizeof(unsigned long) * CHAR_BIT;
  std::vector<unsigned long> mask;
  for (const int node : nodes) {
    const size_t word = static_cast<size_t>(node) / kWordBits;
    if (word >= mask.size()) mask.resize(word + 1);
    mask[word] |= 1UL << (static_cast<size_t>(node) % kWordBits);
  }
  // The kernel takes one bit less than it is told.
  const size_t n_bits = mask.size() * kWordBits + 1;
  if (syscall(SYS_mbind, data, n_bytes, MPOL_INTERLEAVE, mask.data(), n_bits, 0) == 0) return "";
  return std::strerror(errno);
}

std::string spread_note(std::span<const int> nodes, const std::string& refusal) {
  if (nodes.empty()) return "";
  const std::string list = fmt::format("{}", fmt::join(nodes, ","));
  if (refusal.empty()) {
    return fmt::format("experts are spread over the memory of NUMA nodes {}, whose CPUs read them",
                       list);
  }
  return fmt::format(
      "experts cannot be spread over the memory of NUMA nodes {} ({}) and lie where they are "
      "copied first, which makes reading slower; numactl --interleave={} may be allowed to",
      list, refusal, list);
}

}  // namespace ft
