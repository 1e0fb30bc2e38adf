// A tensor as a checkpoint stores it: borrowed, mapped bytes with a name, a type and a shape that
// have been checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tensor/dtype.h"

namespace ft {

struct TensorEntry {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;  // row-major; empty for a scalar; every extent >= 0
  const std::byte* data =
      nullptr;           // mapped, any alignment; at least 256 readable bytes follow the end
  uint64_t n_bytes = 0;  // product(shape) * size_of(dtype), checked
  std::string file;      // for messages
};

}  // namespace ft
