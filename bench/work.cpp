#include "bench/work.h"

#include <string_view>

#include "base/check.h"

namespace ft::bench {

std::vector<int64_t> many_rows(Sizes sizes) {
  if (sizes == Sizes::kSmall) return {4, 16};
  return {2, 4, 8, 16, 64, 512};
}

std::vector<int64_t> rounded_rows(Sizes sizes) {
  if (sizes == Sizes::kSmall) return {16};
  return {16, 512};
}

Case rounded(Case c) {
  constexpr std::string_view kFormat = "/bf16/";
  const size_t at = c.name.find(kFormat);
  FT_CHECK(at != std::string::npos, "only activations that meet bf16 are rounded");
  c.name.replace(at, kFormat.size(), "/bf16-rounded/");
  c.prepare = [prepare = std::move(c.prepare)](Rig& rig, Pool& pool) {
    Work work = prepare(rig, pool);
    work.call = [call = std::move(work.call)](Rig& r) {
      r.lane().may_round = true;
      call(r);
      r.lane().may_round = false;
    };
    return work;
  };
  return c;
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
