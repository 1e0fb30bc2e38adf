// A place to compute: one device's table of operations, its threads and its scratch memory.
#pragma once

#include <cstdint>

#include "device/arena.h"
#include "kernels/crossovers.h"
#include "tensor/weight.h"

namespace ft {

struct Ops;
class Team;

struct Lane {
  const Ops* ops = nullptr;
  Team* team = nullptr;
  Arena* arena = nullptr;
  Crossovers crossovers = {};
  // Activations may be rounded to the type of the weights where that is faster (docs/FORMATS.md)
  bool may_round = false;
};

/// Scratch rows from the lane's arena, not initialised. [rows, cols]
TensorView scratch(Lane& lane, int64_t rows, int64_t cols);

}  // namespace ft
