#include "cli/bench_prompt.h"

#include <random>

namespace ft {

std::vector<int32_t> random_ids(uint64_t seed, int64_t n, int64_t n_vocab) {
  std::mt19937_64 random(seed);
  std::vector<int32_t> ids(static_cast<size_t>(n));
  for (int32_t& id : ids) id = static_cast<int32_t>(random() % static_cast<uint64_t>(n_vocab));
  return ids;
}

}  // namespace ft
