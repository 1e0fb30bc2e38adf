// Arithmetic on sizes that come from files: overflow is an answer, not a wrap-around.
#pragma once

#include <cstdint>
#include <optional>

#include "base/inline.h"

namespace ft {

inline std::optional<uint64_t> checked_add(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

inline std::optional<uint64_t> checked_mul(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

/// The smallest multiple of `unit` that is not below `n`. Callers know that it cannot overflow.
FT_INLINE constexpr uint64_t round_up(uint64_t n, uint64_t unit) {
  return (n + unit - 1) / unit * unit;
}

}  // namespace ft
