// Token ids as people write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ft {

/// Ids apart by commas or white space. Errors: kBadInput with `where` and what is no id; also for
/// an empty list.
std::vector<int32_t> parse_token_list(std::string_view text, std::string_view where);

}  // namespace ft
