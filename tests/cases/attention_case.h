// Attention of the last rows of a sequence: sizes, random keys, values and queries, and what it
// costs. Tests and bench run the same.
#pragma once

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/ops.h"
#include "tests/support/random_weights.h"

namespace ft::test {

struct AttentionCase {
  int64_t n_rows = 1;  // the last positions of the sequence
  int64_t n_context = 0;
  int64_t n_kv_heads = 1;
  int64_t n_heads = 1;
  int64_t d_k = 0;
  int64_t d_v = 0;
  bool values_in_keys = false;
  KvDType dtype = KvDType::kBF16;
  int64_t window = 0;
  bool has_sinks = false;
  float scale = 0.25f;

  const char* type_name() const {
    return dtype == KvDType::kF32 ? "f32" : (dtype == KvDType::kFp8 ? "fp8" : "bf16");
  }
  std::string name() const {
    return fmt::format(
        "{}/{}of{}heads/{}x{}/rows{}/context{}{}{}{}", type_name(), n_kv_heads, n_heads, d_k, d_v,
        n_rows, n_context, values_in_keys ? "/values_in_keys" : "",
        window > 0 ? fmt::format("/window{}", window) : "", has_sinks ? "/sinks" : "");
  }
  int64_t n_outputs() const { return n_rows * n_heads * d_v; }
  int64_t n_pages() const { return (n_context + kPageTokens - 1) / kPageTokens; }
  /// Of one layer, without pages.
  KvLayer layer() const {
    KvLayer kv = {.n_kv_heads = n_kv_heads,
                  .d_k = d_k,
                  .d_v = d_v,
                  .values_in_keys = values_in_keys,
                  .dtype = dtype};
    kv.page_bytes = kv_page_bytes(kv);
    return kv;
  }
  int64_t page_bytes() const { return layer().page_bytes; }
  /// Positions that the row at `position` sees.
  int64_t n_seen(int64_t position) const {
    return window == 0 ? position + 1 : std::min(position + 1, window);
  }
  /// Of keys and values that the last row sees, each once.
  uint64_t read_bytes() const {
    return static_cast<uint64_t>(n_seen(n_context - 1) * page_bytes() / kPageTokens);
  }
  double multiply_adds() const {
    int64_t n_pairs = 0;
    for (int64_t p = n_context - n_rows; p < n_context; ++p) n_pairs += n_seen(p);
    return static_cast<double>(n_pairs * n_heads) * static_cast<double>(d_k + d_v);
  }
};

/// Values that bfloat16 holds exactly, so that storing them as such changes nothing.
inline std::vector<float> short_floats(Random& random, int64_t n) {
  std::vector<float> values = random_floats(random, n);
  for (float& x : values) x = std::bit_cast<float>(std::bit_cast<uint32_t>(x) & 0xFFFF0000u);
  return values;
}

struct AttentionInput {
  AttentionCase test;
  std::vector<float> k;                // [n_context, n_kv_heads, d_k]
  std::vector<float> v;                // [n_context, n_kv_heads, d_v]
  std::vector<float> q;                // [n_rows, n_heads, d_k]
  std::vector<float> sinks;            // [n_heads]
  std::vector<int32_t> positions;      // [n_context]
  std::vector<int32_t> pages;          // shuffled
  std::vector<const int32_t*> tables;  // [n_context]

  AttentionInput(Random& random, const AttentionCase& c)
      : test(c),
        k(short_floats(random, c.n_context * c.n_kv_heads * c.d_k)),
        v(short_floats(random, c.n_context * c.n_kv_heads * c.d_v)),
        q(random_floats(random, c.n_rows * c.n_heads * c.d_k)),
        sinks(random_floats(random, c.n_heads)),
        positions(static_cast<size_t>(c.n_context)),
        pages(static_cast<size_t>(c.n_pages())),
        tables(static_cast<size_t>(c.n_context), pages.data()) {
    std::iota(positions.begin(), positions.end(), 0);
    std::iota(pages.begin(), pages.end(), 0);
    std::shuffle(pages.begin(), pages.end(), random);
  }
  AttentionInput(const AttentionInput&) = delete;
  AttentionInput& operator=(const AttentionInput&) = delete;

  uint64_t kv_bytes() const { return static_cast<uint64_t>(test.n_pages() * test.page_bytes()); }

  /// Over memory of kv_bytes().
  KvLayer kv_in(uint8_t* memory) const {
    KvLayer kv = test.layer();
    kv.pages = memory;
    return kv;
  }

  StoreKvArgs store_args(const KvLayer& kv) {
    return {.kv = kv,
            .rows = {test.n_context, positions.data(), tables.data(), test.n_context},
            .k = view_of(k, test.n_context, test.n_kv_heads * test.d_k),
            .v = view_of(v, test.n_context, test.n_kv_heads * test.d_v)};
  }

  AttentionArgs args(const KvLayer& kv, std::vector<float>& y) {
    const int64_t first = test.n_context - test.n_rows;
    return {.kv = kv,
            .rows = {test.n_rows, positions.data() + first, tables.data() + first, test.n_context},
            .q = view_of(q, test.n_rows, test.n_heads * test.d_k),
            .out = view_of(y, test.n_rows, test.n_heads * test.d_v),
            .n_heads = test.n_heads,
            .scale = test.scale,
            .window = test.window,
            .sinks = test.has_sinks ? sinks.data() : nullptr};
  }

  /// Stores all keys and values, then attends. y: [n_rows, n_heads, d_v]
  void run(Lane& lane, std::vector<float>& y) {
    std::vector<uint8_t> memory(kv_bytes());
    const KvLayer kv = kv_in(memory.data());
    lane.ops->store_kv(lane, store_args(kv));
    lane.ops->attention(lane, args(kv, y));
  }
};

}  // namespace ft::test
