// From how many rows of activations on a kernel for many of them is faster than one for few. Both give
// the same bits, so that a machine may be measured for it.
#pragma once

#include <cstdint>
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

/// Times multiplications of the given formats on the lane with either kernel: some milliseconds.
Crossovers measure_crossovers(const Lane& lane, std::span<const FormatId> formats);

}  // namespace ft
