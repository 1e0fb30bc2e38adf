#include "device/buffer.h"

#include <sys/mman.h>

#include <utility>

#include "base/checked.h"
#include "base/error.h"

namespace ft {

Buffer::Buffer(size_t n_bytes) : size_(n_bytes) {
  constexpr size_t kPage = 4096;
  mapped_ = round_up(n_bytes + kReadablePastEnd, kPage);
  void* memory = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    fail(ErrorKind::kOutOfMemory,
         "cannot reserve {} bytes of memory; close other programs or take a smaller model",
         n_bytes);
  }
  madvise(memory, mapped_,
          MADV_HUGEPAGE);  // advice: where it is refused, small pages serve as well
  data_ = static_cast<std::byte*>(memory);
}

Buffer::~Buffer() {
  if (data_ != nullptr) munmap(data_, mapped_);
}

Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      mapped_(std::exchange(other.mapped_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

}  // namespace ft
