#include "nn/kv_cache.h"

#include "base/check.h"

namespace ft {
namespace {

int64_t token_bytes(const KvShape& shape) {
  const int64_t d = shape.d_k + (shape.values_in_keys ? 0 : shape.d_v);
  return shape.n_kv_heads * d * (shape.is_f32 ? 4 : 2);
}

}  // namespace

uint64_t kv_bytes_per_token(const KvShape& shape) {
  return static_cast<uint64_t>(shape.n_layers * token_bytes(shape));
}

KvCache::KvCache(const KvShape& shape, int64_t n_pages)
    : shape_(shape),
      n_pages_(n_pages),
      page_bytes_(token_bytes(shape) * kPageTokens),
      buffer_(static_cast<size_t>(shape.n_layers * n_pages * page_bytes_)) {
  for (int64_t page = n_pages - 1; page >= 0; --page) free_.push_back(static_cast<int32_t>(page));
}

KvLayer KvCache::layer(int64_t index) {
  return {.pages = reinterpret_cast<uint8_t*>(buffer_.data()) + index * n_pages_ * page_bytes_,
          .page_bytes = page_bytes_,
          .n_kv_heads = shape_.n_kv_heads,
          .d_k = shape_.d_k,
          .d_v = shape_.d_v,
          .values_in_keys = shape_.values_in_keys,
          .is_f32 = shape_.is_f32};
}

int32_t KvCache::take_page() {
  FT_CHECK(!free_.empty(), "no free page");
  const int32_t page = free_.back();
  free_.pop_back();
  return page;
}

bool PageTable::grow(int64_t n_tokens) {
  const int64_t missing = pages_for(n_tokens) - static_cast<int64_t>(pages_.size());
  if (missing > cache_->n_free_pages()) return false;
  for (int64_t i = 0; i < missing; ++i) pages_.push_back(cache_->take_page());
  return true;
}

void PageTable::shrink(int64_t n_tokens) {
  while (static_cast<int64_t>(pages_.size()) > pages_for(n_tokens)) {
    cache_->give_back(pages_.back());
    pages_.pop_back();
  }
}

}  // namespace ft
