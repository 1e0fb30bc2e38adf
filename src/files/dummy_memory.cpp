#include "files/dummy_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/checked.h"
#include "base/error.h"
#include "base/file_map.h"

namespace ft {
namespace {

constexpr size_t kHugePage = 2 << 20;

[[noreturn]] void out_of_addresses(size_t n_bytes) {
  fail(ErrorKind::kOutOfMemory,
       "cannot reserve {} bytes for made-up weights: {}; take a smaller configuration", n_bytes,
       std::strerror(errno));
}

}  // namespace

Mapping::Mapping(size_t n_bytes) : size_(n_bytes) {
  void* memory =
      mmap(nullptr, n_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) out_of_addresses(n_bytes);
  data_ = static_cast<std::byte*>(memory);
}

Mapping::~Mapping() {
  if (data_ != nullptr) munmap(data_, size_);
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

std::byte* LaterMemory::take(size_t n_bytes) {
  constexpr size_t kAlign = 64;
  constexpr size_t kChunk = 64 << 20;
  const size_t wanted = round_up(n_bytes + FileMap::kReadablePastEnd, kAlign);
  if (wanted > left_) {
    const size_t n_usable = std::max(kChunk, round_up(wanted, kHugePage));
    Mapping chunk(n_usable + kHugePage);  // an aligned part of it is used
    if (mprotect(chunk.data(), chunk.size(), PROT_READ | PROT_WRITE) != 0) {
      out_of_addresses(n_bytes);
    }
    madvise(chunk.data(), chunk.size(), MADV_HUGEPAGE);  // advice
    chunks_.push_back(std::move(chunk));
    left_ = n_usable;
  }
  const Mapping& chunk = chunks_.back();
  const auto begin = reinterpret_cast<uintptr_t>(chunk.data());
  const size_t to_aligned = round_up(begin, kHugePage) - begin;
  std::byte* const room = chunk.data() + to_aligned + (chunk.size() - kHugePage - left_);
  left_ -= wanted;
  return room;
}

RepeatedMemory::RepeatedMemory(size_t period) : first_(period) {
  file_ = memfd_create("ft-dummy", MFD_CLOEXEC);
  const bool is_made = file_ >= 0 && ftruncate(file_, static_cast<off_t>(period)) == 0 &&
                       map_into(first_.data(), PROT_READ | PROT_WRITE);
  if (is_made) return;
  if (file_ >= 0) close(file_);
  out_of_addresses(period);
}

RepeatedMemory::~RepeatedMemory() {
  close(file_);
}

bool RepeatedMemory::map_into(std::byte* at, int protection) const {
  return mmap(at, period(), protection, MAP_SHARED | MAP_FIXED, file_, 0) != MAP_FAILED;
}

const std::byte* RepeatedMemory::view(size_t n_bytes) {
  const size_t wanted = round_up(n_bytes + FileMap::kReadablePastEnd, period());
  if (views_.empty() || views_.back().size() < wanted) {
    Mapping view(wanted);
    for (size_t at = 0; at < wanted; at += period()) {
      if (!map_into(view.data() + at, PROT_READ)) out_of_addresses(n_bytes);
    }
    views_.push_back(std::move(view));
  }
  return views_.back().data();
}

}  // namespace ft
