// From how many rows of activations on a kernel for many of them is faster than one for few. Both give
// the same bits, so that a machine may be measured for it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "tensor/formats.h"

namespace ft {

struct Lane;

struct Crossovers {
  struct Rows {
    int32_t decoded = 3;  // weights are decoded once for all rows
    int32_t tiles = 8;    // matrix tiles, where the instruction set has them
  };
  Rows of[kFormats];

  FT_INLINE const Rows& at(FormatId format) const { return of[static_cast<size_t>(format)]; }
};

/// The least of the tried numbers of rows, ascending, from which on a kernel is faster with each; one
/// more than the last, if it is not even with that.
int32_t least_rows(std::span<const int64_t> tried, const std::function<bool(int64_t)>& is_faster);

/// Times multiplications of the given formats with the lane's table, on the calling thread: some
/// milliseconds each.
Crossovers measure_crossovers(const Lane& lane, std::span<const FormatId> formats);

}  // namespace ft
