// Which NUMA nodes memory comes from that all threads read.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/cpus.h"

namespace ft {

/// The nodes of the first n_threads CPUs, ascending: over these, memory that any of the threads may
/// read is best spread. Empty where all of them are of one node: the kernel takes it by itself.
std::vector<int> nodes_to_spread_over(std::span<const Cpu> cpus, int n_threads);

/// Pages of the block come from these nodes in turn, whoever touches them first. None must have been
/// touched; `data` is the beginning of a page. "" or why the system refused, which changes nothing.
std::string spread_over_nodes(std::byte* data, size_t n_bytes, std::span<const int> nodes);

/// What to say of experts that were spread over these nodes, or were not because of `refusal`. ""
/// for no nodes.
std::string spread_note(std::span<const int> nodes, const std::string& refusal);

}  // namespace ft
