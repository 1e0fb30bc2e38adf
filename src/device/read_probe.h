// The speed at which a team reads memory, measured as often as one likes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/buffer.h"

namespace ft {

class Team;

class ReadProbe {
 public:
  static constexpr uint64_t kBytes = uint64_t{512} << 20;  // beyond the caches of most processors

  /// A buffer of `most_bytes`, less where memory is short, each member's slice first touched by
  /// itself. Errors: kOutOfMemory.
  explicit ReadProbe(Team& team, uint64_t most_bytes = kBytes);

  /// GB/s of one pass in which each member sums its own slice.
  double pass_gbps();

 private:
  Team& team_;
  size_t slice_bytes_;
  Buffer pages_;
};

}  // namespace ft
