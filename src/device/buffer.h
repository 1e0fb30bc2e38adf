// Owned bytes in host memory.
#pragma once

#include <cstddef>

#include "base/file_map.h"

namespace ft {

/// Zeroed anonymous memory, page aligned, in 2 MiB pages where the kernel grants them;
/// kReadablePastEnd more bytes can be read behind its end. Errors: kOutOfMemory with the size.
class Buffer {
 public:
  static constexpr size_t kReadablePastEnd = FileMap::kReadablePastEnd;

  Buffer() = default;
  explicit Buffer(size_t n_bytes);
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;
  size_t mapped_ = 0;
};

}  // namespace ft
