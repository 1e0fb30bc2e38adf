#include "bench/pool.h"

#include <cstring>

#include "base/checked.h"
#include "base/error.h"
#include "base/units.h"
#include "device/machine.h"

namespace ft::bench {
namespace {

constexpr uint64_t kPage = 4096;

Buffer checked_buffer(uint64_t n_bytes) {
  const uint64_t free = available_memory_bytes();
  if (free != 0 && n_bytes > free) {
    bad_input("a bank of {} does not fit into {} of free memory; give --bank-gib a smaller number",
              format_bytes(n_bytes), format_bytes(free));
  }
  return Buffer(n_bytes);
}

}  // namespace

Pool::Pool(uint64_t n_bytes) : buffer_(checked_buffer(n_bytes)) {}

int64_t Pool::fill(Team& team, const std::string& key, const std::vector<uint8_t>& pattern,
                   int64_t n_least) {
  if (key != key_) {
    key_.clear();
    stride_bytes_ = round_up(pattern.size(), kPage);
    n_copies_ = static_cast<int64_t>(buffer_.size() / stride_bytes_);
    team.run(n_copies_, 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) std::memcpy(copy(i), pattern.data(), pattern.size());
    });
    key_ = key;
  }
  if (n_copies_ < n_least) {
    bad_input("{} needs {} for {} pieces of {}; give --bank-gib a larger number", key,
              format_bytes(static_cast<uint64_t>(n_least) * stride_bytes_), n_least,
              format_bytes(stride_bytes_));
  }
  return n_copies_;
}

}  // namespace ft::bench
