#include "nn/kv_cache.h"

#include <set>

#include <gtest/gtest.h>

namespace ft {
namespace {

const KvShape kShape = {.n_layers = 3, .n_kv_heads = 2, .d_k = 8, .d_v = 16};

TEST(KvCache, PagesAreLentOnceAndComeBack) {
  KvCache cache(kShape, 5);
  {
    PageTable a(cache);
    PageTable b(cache);
    EXPECT_TRUE(a.grow(kPageTokens + 1));
    EXPECT_TRUE(b.grow(3 * kPageTokens));
    EXPECT_EQ(cache.n_free_pages(), 0);
    const std::set<int32_t> pages = {a.pages()[0], a.pages()[1], b.pages()[0], b.pages()[1],
                                     b.pages()[2]};
    EXPECT_EQ(pages.size(), 5u);
    EXPECT_FALSE(a.grow(2 * kPageTokens + 1));
    EXPECT_TRUE(a.grow(2 * kPageTokens));  // what it has is enough
    b.shrink(1);
    EXPECT_EQ(cache.n_free_pages(), 2);
    EXPECT_TRUE(a.grow(4 * kPageTokens));
  }
  EXPECT_EQ(cache.n_free_pages(), 5);
}

TEST(KvCache, LayersLieApart) {
  KvCache cache(kShape, 2);
  const int64_t page_bytes = kPageTokens * 2 * (8 + 16) * 2;
  EXPECT_EQ(cache.layer(0).page_bytes, page_bytes);
  EXPECT_EQ(cache.layer(1).pages - cache.layer(0).pages, 2 * page_bytes);
  EXPECT_EQ(kv_bytes_per_token(kShape), 3u * 2 * (8 + 16) * 2);
}

TEST(KvCache, ValuesWithinKeysTakeNoRoom) {
  KvShape shape = kShape;
  shape.values_in_keys = true;
  EXPECT_EQ(kv_bytes_per_token(shape), 3u * 2 * 8 * 2);
}

TEST(KvCache, TypesTakeTheirBytes) {
  KvShape shape = kShape;
  shape.dtype = KvDType::kF32;
  EXPECT_EQ(kv_bytes_per_token(shape), 3u * 2 * (8 + 16) * 4);
  shape.dtype = KvDType::kFp8;  // and two scales a head
  EXPECT_EQ(kv_bytes_per_token(shape), 3u * 2 * (8 + 16 + 2 * 4));
  shape.values_in_keys = true;
  EXPECT_EQ(kv_bytes_per_token(shape), 3u * 2 * (8 + 4));
}

TEST(KvCache, WidthsAreFilledUpToWholePanels) {
  KvShape shape = kShape;
  shape.d_k = 7;
  shape.d_v = 17;
  EXPECT_EQ(kv_bytes_per_token(shape), 3u * 2 * (8 + 32) * 2);
}

}  // namespace
}  // namespace ft
