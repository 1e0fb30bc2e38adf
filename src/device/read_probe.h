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

  /// A buffer of `most_bytes`, less where memory is short. Errors: kOutOfMemory.
  explicit ReadProbe(Team& team, uint64_t most_bytes = kBytes);

  /// GB/s of one pass over the buffer. Members take pieces of it as they come free, as they do in the
  /// kernels: with a slice each, the slowest one would set the figure.
  double pass_gbps();

 private:
  Team& team_;
  int64_t n_pieces_;
  Buffer pieces_;
};

}  // namespace ft
