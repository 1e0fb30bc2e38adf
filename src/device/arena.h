// Scratch memory of a step: one block, sized once, handed out by moving a mark.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "base/checked.h"
#include "base/inline.h"
#include "device/buffer.h"

namespace ft {

class Arena {
 public:
  explicit Arena(size_t n_bytes) : buffer_(n_bytes) {}

  /// What alloc<T>(count) takes: sizes of arenas are sums of these.
  template <typename T>
  static FT_INLINE uint64_t bytes_for(int64_t count) {
    return round_up(static_cast<uint64_t>(count) * sizeof(T), kAlign);
  }

  /// Room for `count` values, 64-byte aligned, not initialised. Running out is our bug: the size is
  /// computed beforehand.
  template <typename T>
  FT_INLINE T* alloc(int64_t count) {
    const size_t begin = used_;
    const size_t end = begin + bytes_for<T>(count);
    FT_CHECK(count >= 0 && end <= buffer_.size(), "the arena is too small for this step");
    used_ = end;
    if (end > peak_) peak_ = end;
    return reinterpret_cast<T*>(buffer_.data() + begin);
  }

  size_t size() const { return buffer_.size(); }

  /// The most that was in use at once.
  size_t peak() const { return peak_; }

  /// What is allocated within the life of a scope is given back at its end.
  class Scope {
   public:
    explicit FT_INLINE Scope(Arena& arena) : arena_(arena), used_(arena.used_) {}
    FT_INLINE ~Scope() { arena_.used_ = used_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Arena& arena_;
    size_t used_;
  };

 private:
  static constexpr size_t kAlign = 64;

  Buffer buffer_;
  size_t used_ = 0;
  size_t peak_ = 0;
};

}  // namespace ft
