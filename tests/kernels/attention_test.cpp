// Attention against a plain formulation in double precision, and its bits against those of other
// instruction sets, teams and ways of cutting a prompt.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/cpu_lane.h"
#include "tests/support/random_weights.h"

namespace ft::test {
namespace {

constexpr KvDType kTypes[] = {KvDType::kBF16, KvDType::kF32, KvDType::kFp8};

struct Case {
  int64_t n_kv_heads = 1;
  int64_t n_heads = 1;
  int64_t d_k = 0;
  int64_t d_v = 0;
  bool values_in_keys = false;
  int64_t window = 0;
  bool has_sinks = false;

  std::string name(KvDType dtype) const {
    return std::to_string(n_heads) + " heads, " + std::to_string(n_kv_heads) + " of keys, d " +
           std::to_string(d_k) + ", " + std::to_string(d_v) + ", window " + std::to_string(window) +
           ", type " + std::to_string(static_cast<int>(dtype));
  }
};

const Case kCases[] = {
    {.n_kv_heads = 3, .n_heads = 3, .d_k = 21, .d_v = 13},
    {.n_kv_heads = 2, .n_heads = 8, .d_k = 16, .d_v = 16, .window = 70, .has_sinks = true},
    {.n_kv_heads = 1, .n_heads = 8, .d_k = 24, .d_v = 40, .has_sinks = true},
    {.n_kv_heads = 1, .n_heads = 5, .d_k = 37, .d_v = 29, .values_in_keys = true, .window = 300},
    {.n_kv_heads = 1, .n_heads = 67, .d_k = 18, .d_v = 16, .values_in_keys = true},
};

/// Numbers that every type of the cache holds exactly: e4m3 codes of one power of two, the first of
/// each row the largest.
std::vector<float> short_floats(Random& random, int64_t n_rows, int64_t d) {
  std::vector<float> values(static_cast<size_t>(n_rows * d));
  for (int64_t i = 0; i < n_rows * d; ++i) {
    const auto code = static_cast<uint8_t>(0x28 + random() % 0x1F + (random() % 2 << 7));
    values[static_cast<size_t>(i)] = static_cast<float>(e4m3(i % d == 0 ? 0x46 : code));
  }
  return values;
}

/// One sequence: what it holds, and the memory in which it is kept.
struct Sequence {
  Case shape;
  int64_t n = 0;
  std::vector<float> k, v, q, sinks;
  KvLayer kv;
  std::vector<uint8_t> memory;
  std::vector<int32_t> pages;

  Sequence(const Case& of, KvDType dtype, int64_t n_positions) : shape(of), n(n_positions) {
    kv = {.n_kv_heads = of.n_kv_heads,
          .d_k = of.d_k,
          .d_v = of.d_v,
          .values_in_keys = of.values_in_keys,
          .dtype = dtype};
    kv.page_bytes = kv_page_bytes(kv);
    pages.resize(static_cast<size_t>((n + kPageTokens - 1) / kPageTokens));
    std::iota(pages.rbegin(), pages.rend(), 0);
    // Whatever lies in a page that is not yet filled must not matter.
    memory.assign(pages.size() * static_cast<size_t>(kv.page_bytes), 0xFF);
    kv.pages = memory.data();
  }

  void fill(Random& random, bool is_short) {
    const auto floats = [&](int64_t d) {
      return is_short ? short_floats(random, n * shape.n_kv_heads, d)
                      : random_floats(random, n * shape.n_kv_heads * d);
    };
    k = floats(shape.d_k);
    v = floats(shape.d_v);
    q = random_floats(random, n * shape.n_heads * shape.d_k, 0.3f);
    sinks = random_floats(random, shape.n_heads);
  }

  /// Stores positions [first, end), attends with those from `asked` on. [end - asked, n_heads * d_v]
  std::vector<float> step(CpuLane& c, int64_t first, int64_t asked, int64_t end) {
    store(c, first, end);
    return attend(c, asked, end);
  }

  void store(CpuLane& c, int64_t first, int64_t end) {
    const Rows rows(*this, first, end);
    c.ops().store_kv(c.lane, {.kv = kv,
                              .rows = rows.view,
                              .k = part(k, shape.n_kv_heads * shape.d_k, first, end),
                              .v = part(v, shape.n_kv_heads * shape.d_v, first, end)});
  }

  std::vector<float> attend(CpuLane& c, int64_t first, int64_t end) {
    const Rows rows(*this, first, end);
    std::vector<float> y(static_cast<size_t>((end - first) * shape.n_heads * shape.d_v));
    c.ops().attention(c.lane, {.kv = kv,
                               .rows = rows.view,
                               .q = part(q, shape.n_heads * shape.d_k, first, end),
                               .out = view_of(y, end - first, shape.n_heads * shape.d_v),
                               .n_heads = shape.n_heads,
                               .scale = 0.25f,
                               .window = shape.window,
                               .sinks = shape.has_sinks ? sinks.data() : nullptr});
    return y;
  }

  /// The result of one head of one position.
  std::vector<double> plain(int64_t r, int64_t h) const {
    const int64_t kv_head = h / (shape.n_heads / shape.n_kv_heads);
    const float* query = q.data() + (r * shape.n_heads + h) * shape.d_k;
    double total = shape.has_sinks ? std::exp(double(sinks[static_cast<size_t>(h)])) : 0;
    std::vector<double> mixed(static_cast<size_t>(shape.d_v));
    for (int64_t t = shape.window == 0 ? 0 : std::max<int64_t>(0, r + 1 - shape.window); t <= r;
         ++t) {
      const float* key = k.data() + (t * shape.n_kv_heads + kv_head) * shape.d_k;
      const float* value =
          shape.values_in_keys ? key : v.data() + (t * shape.n_kv_heads + kv_head) * shape.d_v;
      const double score = std::inner_product(key, key + shape.d_k, query, 0.0, std::plus<>(),
                                              [](double a, double b) { return a * b; });
      const double weight = std::exp(score * 0.25);
      total += weight;
      for (size_t x = 0; x < mixed.size(); ++x) mixed[x] += weight * value[x];
    }
    for (double& x : mixed) x /= total;
    return mixed;
  }

  struct Rows {
    std::vector<int32_t> positions;
    std::vector<const int32_t*> tables;
    RowPositions view;

    Rows(const Sequence& of, int64_t first, int64_t end)
        : positions(static_cast<size_t>(end - first)), tables(positions.size(), of.pages.data()) {
      std::iota(positions.begin(), positions.end(), static_cast<int32_t>(first));
      view = {end - first, positions.data(), tables.data(), end};
    }
  };

  static TensorView part(std::vector<float>& of, int64_t cols, int64_t first, int64_t end) {
    return {.data = of.data() + first * cols, .rows = end - first, .cols = cols, .stride = cols};
  }
};

int64_t n_different(std::span<const float> a, std::span<const float> b) {
  int64_t n = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; n == 0 && i < a.size(); ++i) {
    n += std::bit_cast<uint32_t>(a[i]) != std::bit_cast<uint32_t>(b[i]) ? 1 : 0;
  }
  return n;
}

TEST(Attention, IsSoftmaxOverTheWindow) {
  Random random(5);
  CpuLane c("auto");
  for (const Case& shape : kCases) {
    for (const KvDType dtype : kTypes) {
      for (const int64_t n : {1, 63, 64, 65, 511, 513, 1000}) {
        Sequence sequence(shape, dtype, n);
        sequence.fill(random, true);
        sequence.store(c, 0, n);
        for (const int64_t n_rows : {1, 3, 17}) {
          if (n_rows > n) continue;
          const std::vector<float> y = sequence.attend(c, n - n_rows, n);
          double worst = 0;
          for (int64_t i = 0; i < n_rows * shape.n_heads; ++i) {
            const std::vector<double> expected =
                sequence.plain(n - n_rows + i / shape.n_heads, i % shape.n_heads);
            for (size_t x = 0; x < expected.size(); ++x) {
              const size_t at = static_cast<size_t>(i * shape.d_v) + x;
              worst = std::max(worst, std::abs(expected[x] - double(y[at])));
            }
          }
          EXPECT_LE(worst, 4e-6) << shape.name(dtype) << ", " << n_rows << " rows of " << n;
        }
      }
    }
  }
}

/// All positions of a sequence in steps of n_rows.
std::vector<float> in_steps(CpuLane& c, Sequence& sequence, int64_t n_rows) {
  std::vector<float> all;
  for (int64_t first = 0; first < sequence.n; first += n_rows) {
    const int64_t end = std::min(first + n_rows, sequence.n);
    const std::vector<float> y = sequence.step(c, first, first, end);
    all.insert(all.end(), y.begin(), y.end());
  }
  return all;
}

TEST(Attention, BitsDependNeitherOnStepsNorThreadsNorInstructionSets) {
  Random random(6);
  for (const Case& shape : kCases) {
    for (const KvDType dtype : kTypes) {
      Sequence sequence(shape, dtype, shape.n_heads > 8 ? 270 : 530);
      sequence.fill(random, false);
      CpuLane scalar("scalar", false, 1);
      const std::vector<float> expected = in_steps(scalar, sequence, sequence.n);
      for (const std::string& isa : available_isas()) {
        for (const int n_threads : thread_counts()) {
          CpuLane c(isa, false, n_threads);
          for (const int64_t n_rows : {int64_t{1}, int64_t{7}, int64_t{100}, sequence.n}) {
            if (isa == "scalar" && n_rows != 7) continue;  // takes long
            std::fill(sequence.memory.begin(), sequence.memory.end(), uint8_t{0xFF});
            EXPECT_EQ(n_different(expected, in_steps(c, sequence, n_rows)), 0)
                << shape.name(dtype) << ", " << isa << ", " << n_threads << " threads, steps of "
                << n_rows;
          }
        }
      }
    }
  }
}

TEST(Attention, SequencesOfOneStepDoNotMix) {
  Random random(7);
  const Case shape = {.n_kv_heads = 2, .n_heads = 6, .d_k = 16, .d_v = 24};
  for (const KvDType dtype : kTypes) {
    CpuLane c("auto");
    // Both live in one cache, so one's pages lie behind the other's.
    Sequence a(shape, dtype, 300);
    Sequence b(shape, dtype, 90);
    a.fill(random, false);
    b.fill(random, false);
    a.memory.resize(a.memory.size() + b.memory.size());
    a.kv.pages = b.kv.pages = a.memory.data();
    for (int32_t& page : b.pages) page += static_cast<int32_t>(a.pages.size());
    a.store(c, 0, a.n);
    b.store(c, 0, b.n);
    std::vector<float> expected = a.attend(c, 297, 300);
    const std::vector<float> of_b = b.attend(c, 88, 90);
    expected.insert(expected.begin() + 6 * 24, of_b.begin(), of_b.end());
    // Rows of a, b, b, a, a.
    const std::vector<int32_t> positions = {297, 88, 89, 298, 299};
    const std::vector<const int32_t*> tables = {a.pages.data(), b.pages.data(), b.pages.data(),
                                                a.pages.data(), a.pages.data()};
    std::vector<float> q(a.q.begin() + 297 * 96, a.q.begin() + 300 * 96);
    q.insert(q.begin() + 96, b.q.begin() + 88 * 96, b.q.begin() + 90 * 96);
    std::vector<float> y(expected.size());
    c.ops().attention(c.lane, {.kv = a.kv,
                               .rows = {5, positions.data(), tables.data(), 300},
                               .q = view_of(q, 5, 96),
                               .out = view_of(y, 5, 6 * 24),
                               .n_heads = 6,
                               .scale = 0.25f});
    EXPECT_EQ(n_different(expected, y), 0) << static_cast<int>(dtype);
  }
}

TEST(Attention, WhatIsNoNumberIsSeenByThoseOnlyWhoAttendToIt) {
  Random random(8);
  for (const Case& shape : kCases) {
    for (const KvDType dtype : kTypes) {
      CpuLane c("auto");
      Sequence sequence(shape, dtype, 280);
      sequence.fill(random, false);
      const std::vector<float> good = sequence.step(c, 0, 0, 280);
      const int64_t bad = 271;
      const auto row = static_cast<size_t>(bad * shape.n_kv_heads);
      sequence.v[row * static_cast<size_t>(shape.d_v)] = std::numeric_limits<float>::infinity();
      sequence.k[row * static_cast<size_t>(shape.d_k)] = std::numeric_limits<float>::quiet_NaN();
      const std::vector<float> y = sequence.step(c, 0, 0, 280);
      const auto before = static_cast<size_t>(bad * shape.n_heads * shape.d_v);
      EXPECT_EQ(n_different(std::span(good).first(before), std::span(y).first(before)), 0)
          << shape.name(dtype);
      EXPECT_FALSE(std::isfinite(y[before])) << shape.name(dtype);
    }
  }
}

TEST(Attention, Fp8KeepsThreeBitsOfEachValue) {
  Random random(9);
  CpuLane c("auto");
  Sequence sequence({.n_kv_heads = 1, .n_heads = 1, .d_k = 8, .d_v = 999}, KvDType::kFp8, 1);
  sequence.fill(random, false);
  for (size_t i = 0; i < 300; ++i) sequence.v[i] *= std::exp2(-static_cast<float>(i % 30));
  float largest = 0;
  for (const float x : sequence.v) largest = std::max(largest, std::abs(x));
  const std::vector<float> y = sequence.step(c, 0, 0, 1);
  for (size_t i = 0; i < y.size(); ++i) {
    // Half a step: of a mantissa of three bits, or of the smallest code.
    const float bound = std::max(std::abs(sequence.v[i]) / 16, largest * 0x1p-18f);
    EXPECT_LE(std::abs(y[i] - sequence.v[i]), bound * 1.00001f) << sequence.v[i];
  }
}

TEST(Attention, Fp8StaysNearFloat32) {
  Random random(10);
  CpuLane c("auto");
  for (const Case& shape :
       {Case{.n_kv_heads = 2, .n_heads = 8, .d_k = 64, .d_v = 64},
        Case{.n_kv_heads = 1, .n_heads = 4, .d_k = 96, .d_v = 64, .values_in_keys = true}}) {
    Sequence exact(shape, KvDType::kF32, 600);
    exact.fill(random, false);
    Sequence small(shape, KvDType::kFp8, 600);
    small.k = exact.k, small.v = exact.v, small.q = exact.q;
    const std::vector<float> a = exact.step(c, 0, 0, 600);
    const std::vector<float> b = small.step(c, 0, 0, 600);
    double error = 0, norm = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      error += (double(b[i]) - a[i]) * (double(b[i]) - a[i]);
      norm += double(a[i]) * a[i];
    }
    printf("fp8: squared error over squared norm %.2e\n", error / norm);
    EXPECT_LE(error / norm, 2e-3);
    EXPECT_GE(error, 1e-5 * norm) << "nothing was rounded";
  }
}

}  // namespace
}  // namespace ft::test
