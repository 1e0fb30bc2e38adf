// Throwing an ft::Error with a formatted text. The type itself is in include/ft/error.h, since
// embedders see it.
#pragma once

#include <utility>

#include <fmt/format.h>

#include "ft/error.h"

namespace ft {

/// Throws Error{kind, text}. The text says what, where (with the values) and what to do.
template <typename... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> text, Args&&... args) {
  throw Error(kind, fmt::format(text, std::forward<Args>(args)...));
}

template <typename... Args>
[[noreturn]] void bad_input(fmt::format_string<Args...> text, Args&&... args) {
  throw Error(ErrorKind::kBadInput, fmt::format(text, std::forward<Args>(args)...));
}

template <typename... Args>
[[noreturn]] void unsupported(fmt::format_string<Args...> text, Args&&... args) {
  throw Error(ErrorKind::kUnsupported, fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace ft
