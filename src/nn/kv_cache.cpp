#include "nn/kv_cache.h"

#include "base/check.h"

namespace ft {
namespace {

KvLayer layer_of(const KvShape& shape) {
  KvLayer layer = {.n_kv_heads = shape.n_kv_heads,
                   .d_k = shape.d_k,
                   .d_v = shape.d_v,
                   .values_in_keys = shape.values_in_keys,
                   .dtype = shape.dtype};
  layer.page_bytes = kv_page_bytes(layer);
  return layer;
}

}  // namespace

uint64_t kv_bytes_per_token(const KvShape& shape) {
  return static_cast<uint64_t>(shape.n_layers * layer_of(shape).page_bytes / kPageTokens);
}

KvCache::KvCache(const KvShape& shape, int64_t n_pages)
    : shape_(shape),
      n_pages_(n_pages),
      page_bytes_(layer_of(shape).page_bytes),
      buffer_(static_cast<size_t>(shape.n_layers * n_pages * page_bytes_)) {
  for (int64_t page = n_pages - 1; page >= 0; --page) free_.push_back(static_cast<int32_t>(page));
}

KvLayer KvCache::layer(int64_t index) {
  KvLayer layer = layer_of(shape_);
  layer.pages = reinterpret_cast<uint8_t*>(buffer_.data()) + index * n_pages_ * page_bytes_;
  return layer;
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
