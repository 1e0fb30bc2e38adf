// Memory of made-up tensors: pages that are written later, and a few pages that are seen again and
// again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ft {

/// Mapped addresses, given back at the end of life.
class Mapping {
 public:
  Mapping() = default;
  /// Reserves addresses that nothing may touch. Errors: kOutOfMemory with the size.
  explicit Mapping(size_t n_bytes);
  ~Mapping();
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

/// Room that is handed out piece by piece and reads as zeros until it is written: only then does it
/// take memory, in huge pages where the kernel grants them.
class LaterMemory {
 public:
  /// 64-byte aligned; FileMap::kReadablePastEnd bytes behind the end are readable. Errors: kOutOfMemory.
  std::byte* take(size_t n_bytes);

 private:
  std::vector<Mapping> chunks_;
  size_t left_ = 0;  // of the last chunk
};

/// `period` bytes of memory that are seen again and again over as many addresses as are
/// asked for.
class RepeatedMemory {
 public:
  /// A multiple of the page size. Errors: kOutOfMemory.
  explicit RepeatedMemory(size_t period);
  ~RepeatedMemory();
  RepeatedMemory(const RepeatedMemory&) = delete;
  RepeatedMemory& operator=(const RepeatedMemory&) = delete;

  size_t period() const { return first_.size(); }
  std::byte* data() const { return first_.data(); }  // one period, to be written

  /// At least n_bytes and FileMap::kReadablePastEnd more, read only, beginning with a period. Valid as long as this
  /// lives. Errors: kOutOfMemory.
  const std::byte* view(size_t n_bytes);

 private:
  bool map_into(std::byte* at, int protection) const;

  int file_ = -1;  // anonymous memory under a descriptor, so that it can be mapped again
  Mapping first_;
  std::vector<Mapping> views_;
};

}  // namespace ft
