// Prompts of random ids, which benches run.
#pragma once

#include <cstdint>
#include <vector>

namespace ft {

/// Equal for equal seeds.
std::vector<int32_t> random_ids(uint64_t seed, int64_t n, int64_t n_vocab);

}  // namespace ft
