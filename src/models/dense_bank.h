// Dense matrices that a load turns into q8, in memory of their own. Planned first, filled once,
// immutable afterwards.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "device/buffer.h"
#include "tensor/weight.h"

namespace ft {

class Team;

class DenseBank {
 public:
  /// Plans the copy of a matrix of plain numbers, and makes `weight` a view of it, whose codes and
  /// scales fill() sets: it must stay where it is until then. What cannot be turned is left as it is
  /// and counted. `name`: for messages.
  void add(WeightView& weight, std::string name);

  /// Takes the copies' memory, of these NUMA nodes in turn where there are some. Returns why the
  /// system refused that, or "". Errors: kOutOfMemory.
  std::string reserve(std::span<const int> nodes);

  /// Writes all copies, in parallel; reserves the memory where nobody has. `on_progress(done_bytes)` is
  /// called by the calling thread. Errors: kBadInput for a weight that is NaN, infinite or too large;
  /// kOutOfMemory.
  void fill(Team& team, const std::function<void(uint64_t)>& on_progress);

  uint64_t n_bytes() const { return n_bytes_; }            // of the copies
  uint64_t source_bytes() const { return source_bytes_; }  // of what they are made of

  /// "q8: 49 dense matrices of 1.23 GB become 653 MB; 2 stay as they are: ..."; "" if nothing was added.
  std::string describe() const;

 private:
  struct Matrix {
    std::string name;
    WeightView from;
    WeightView* to;
    uint64_t codes;   // where in the buffer
    uint64_t scales;  // the same
  };

  void fill_rows(const Matrix& matrix, int64_t begin, int64_t end);

  std::vector<Matrix> matrices_;
  int64_t n_other_formats_ = 0;  // left as they are
  int64_t n_odd_columns_ = 0;    // the same
  uint64_t n_bytes_ = 0;
  uint64_t source_bytes_ = 0;
  Buffer buffer_;
};

}  // namespace ft
