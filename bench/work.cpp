#include "bench/work.h"

namespace ft::bench {

std::vector<int64_t> many_rows(Sizes sizes) {
  if (sizes == Sizes::kSmall) return {4, 16};
  return {2, 4, 8, 16, 64, 512};
}

std::vector<Case> all_cases(Sizes sizes) {
  std::vector<Case> cases;
  add_expert_cases(sizes, cases);
  add_linear_cases(sizes, cases);
  add_attention_cases(sizes, cases);
  add_row_cases(sizes, cases);
  add_team_cases(cases);
  return cases;
}

}  // namespace ft::bench
