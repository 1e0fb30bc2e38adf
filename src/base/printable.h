// Text from a file made fit for a message: no control characters, not too long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ft {

inline constexpr size_t kWholeText = SIZE_MAX;

/// `text` with control bytes as \xNN; if it is longer than `limit_bytes`, its beginning and its
/// length.
std::string printable(std::string_view text, size_t limit_bytes = 160);

}  // namespace ft
