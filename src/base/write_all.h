// Writing to a file descriptor until all of it is written.
#pragma once

#include <string_view>

namespace ft {

/// Goes on after signals, and waits where the descriptor would block. 0, or the errno of what went
/// wrong.
int write_all(int fd, std::string_view text);

}  // namespace ft
