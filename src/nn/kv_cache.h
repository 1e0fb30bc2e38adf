// Keys and values in pages of kPageTokens positions, owned by sessions. Knows positions, not
// tokens.
#pragma once

#include <cstdint>
#include <vector>

#include "device/buffer.h"
#include "kernels/ops.h"

namespace ft {

/// What one layer keeps for one position; equal for all layers of a model.
struct KvShape {
  int64_t n_layers = 0;
  int64_t n_kv_heads = 0;
  int64_t d_k = 0;
  int64_t d_v = 0;
  bool values_in_keys = false;  // MLA: the value is the first d_v numbers of the key
  KvDType dtype = KvDType::kBF16;
};

/// Pages that hold n_tokens positions.
constexpr int64_t pages_for(int64_t n_tokens) {
  return (n_tokens + kPageTokens - 1) / kPageTokens;
}

/// Bytes of all layers for one position.
uint64_t kv_bytes_per_token(const KvShape& shape);

class KvCache {
 public:
  /// Errors: kOutOfMemory.
  KvCache(const KvShape& shape, int64_t n_pages);

  KvLayer layer(int64_t index);
  int64_t n_free_pages() const { return static_cast<int64_t>(free_.size()); }

  /// The number of a free page, taken out of the free list; there must be one.
  int32_t take_page();
  void give_back(int32_t page) { free_.push_back(page); }

 private:
  KvShape shape_;
  int64_t n_pages_;
  int64_t page_bytes_;  // of one layer
  Buffer buffer_;       // [n_layers, n_pages, page_bytes]
  std::vector<int32_t> free_;
};

/// The pages of one sequence, in order of positions; gives them back when it ends.
class PageTable {
 public:
  explicit PageTable(KvCache& cache) : cache_(&cache) {}
  ~PageTable() { shrink(0); }
  PageTable(const PageTable&) = delete;
  PageTable& operator=(const PageTable&) = delete;

  /// Has pages for `n_tokens` positions. False, and nothing is changed, if the cache has not enough
  /// free ones.
  bool grow(int64_t n_tokens);

  /// Keeps pages for `n_tokens` positions and gives back the others.
  void shrink(int64_t n_tokens);

  const int32_t* pages() const { return pages_.data(); }

 private:
  KvCache* cache_;
  std::vector<int32_t> pages_;
};

}  // namespace ft
