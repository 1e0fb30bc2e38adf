// For each row of a step its experts and their weights: plain arrays of fixed size, best first.
// Names no place.
#pragma once

#include <cstdint>

namespace ft {

struct Routing {
  int64_t n_rows = 0;
  int64_t n_active = 0;
  int32_t* ids = nullptr;    // [n_rows, n_active]
  float* weights = nullptr;  // [n_rows, n_active]
};

}  // namespace ft
