// The speed at which a team reads memory, measured as often as one likes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/buffer.h"

namespace ft {

class Team;

class ReadProbe {
 public:
  /// A buffer of 512 MiB, less where memory is short, each member's slice first touched by itself.
  /// Errors: kOutOfMemory.
  explicit ReadProbe(Team& team);

  /// GB/s of one pass in which each member sums its own slice.
  double pass_gbps();

 private:
  Team& team_;
  size_t slice_bytes_;
  Buffer pages_;
};

}  // namespace ft
