// One large block of memory that the cases put their weights into, one case after the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/team.h"
#include "device/buffer.h"
#include "device/huge_pages.h"

namespace ft::bench {

class Pool {
 public:
  /// Errors: kBadInput with the sum where so much memory is not free.
  explicit Pool(uint64_t n_bytes);

  /// Fills the pool with copies of `pattern`, `stride_bytes` apart (whole pages), and returns how
  /// many there are. Each member of the team writes a part. Does nothing where the same pattern
  /// (`key`) is there already. Errors: kBadInput where fewer than `n_least` fit.
  int64_t fill(Team& team, const std::string& key, const std::vector<uint8_t>& pattern,
               int64_t n_least);

  uint8_t* copy(int64_t index) { return bytes() + static_cast<uint64_t>(index) * stride_bytes_; }

  uint64_t size() const { return buffer_.size(); }
  std::optional<double> huge_page_share() const {
    return ft::huge_page_share(buffer_.data(), buffer_.size());
  }

 private:
  uint8_t* bytes() { return reinterpret_cast<uint8_t*>(buffer_.data()); }

  Buffer buffer_;
  std::string key_;
  uint64_t stride_bytes_ = 0;
  int64_t n_copies_ = 0;
};

}  // namespace ft::bench
