// Sizes of teams for tests of what must not depend on them.
#pragma once

#include <algorithm>
#include <vector>

#include "base/cpus.h"

namespace ft::test {

/// 1, 2 and 3, as far as this process may use that many CPUs.
inline std::vector<int> thread_counts() {
  const auto n_allowed = static_cast<int>(allowed_cpus().cpus.size());
  std::vector<int> counts;
  for (int n = 1; n <= std::min(3, n_allowed); ++n) counts.push_back(n);
  return counts;
}

}  // namespace ft::test
