// The speed at which a team reads memory, measured as often as one likes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/buffer.h"

namespace ft {

class Team;

struct ProbeSize {
  uint64_t n_bytes = 0;      // what is read
  uint64_t cache_bytes = 0;  // of the caches that may hold a part of it

  /// Memory is short: the caches hold a good part of it and flatter the rate.
  bool is_short() const { return n_bytes < 4 * cache_bytes; }
};

/// Four times the caches, 512 MiB at least; an eighth of what is available at most, 64 MiB where that
/// is less.
ProbeSize probe_size(uint64_t cache_bytes, uint64_t available_bytes);

/// That of a team of so many threads on this machine, now.
ProbeSize probe_size_for(int n_threads);

class ReadProbe {
 public:
  /// Errors: kOutOfMemory.
  ReadProbe(Team& team, ProbeSize size);

  ProbeSize size() const { return size_; }

  /// GB/s of one pass over the buffer. Members take pieces of it as they come free, as they do in the
  /// kernels: with a slice each, the slowest one would set the figure.
  double pass_gbps();

 private:
  Team& team_;
  ProbeSize size_;
  int64_t n_pieces_;
  Buffer pieces_;
};

}  // namespace ft
