// Operations on rows of activations: norm, rotary positions, routing. Sizes, random inputs, and how
// to run them. Tests and bench run the same.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/ops.h"
#include "tests/support/random_weights.h"

namespace ft::test {

struct NormCase {
  int64_t n_rows = 1;
  int64_t n_groups = 1;
  int64_t d = 0;
  float eps = 1e-6f;
  float deviation = 1;  // of the rows' values

  std::string name() const { return fmt::format("{}of{}/rows{}", n_groups, d, n_rows); }
  int64_t n_outputs() const { return n_rows * n_groups * d; }
};

struct NormInput {
  NormCase test;
  std::vector<float> x;       // [n_rows, n_groups, d]
  std::vector<float> weight;  // [d]

  NormInput(Random& random, const NormCase& c)
      : test(c),
        x(random_floats(random, c.n_outputs(), c.deviation)),
        weight(random_floats(random, c.d)) {}

  void run(Lane& lane, std::vector<float>& y) {
    const int64_t cols = test.n_groups * test.d;
    lane.ops->norm(lane, {.x = view_of(x, test.n_rows, cols),
                          .y = view_of(y, test.n_rows, cols),
                          .weight = weight.data(),
                          .d = test.d,
                          .eps = test.eps});
  }
};

struct RopeCase {
  int64_t n_rows = 1;
  int64_t n_heads = 1;
  int64_t d_head = 0;
  int64_t d_rotary = 0;  // the last ones of a head
  bool is_interleaved = false;
  int64_t n_positions = 16;

  std::string name() const {
    return fmt::format("{}x{}/{}{}/rows{}", n_heads, d_head, d_rotary,
                       is_interleaved ? "interleaved" : "", n_rows);
  }
  int64_t n_outputs() const { return n_rows * n_heads * d_head; }
};

struct RopeInput {
  RopeCase test;
  std::vector<float> x;            // [n_rows, n_heads, d_head]
  std::vector<float> cos_sin;      // [n_positions, d_rotary]: any numbers serve
  std::vector<int32_t> positions;  // [n_rows]

  RopeInput(Random& random, const RopeCase& c)
      : test(c),
        x(random_floats(random, c.n_outputs())),
        cos_sin(random_floats(random, c.n_positions * c.d_rotary)) {
    for (int64_t r = 0; r < c.n_rows; ++r) {
      positions.push_back(static_cast<int32_t>(random() % static_cast<uint64_t>(c.n_positions)));
    }
  }

  RopeArgs args(std::vector<float>& y) {
    return {.x = view_of(y, test.n_rows, test.n_heads * test.d_head),
            .n_heads = test.n_heads,
            .d_head = test.d_head,
            .first = test.d_head - test.d_rotary,
            .d_rotary = test.d_rotary,
            .is_interleaved = test.is_interleaved,
            .cos_sin = cos_sin.data(),
            .positions = positions.data()};
  }

  void run(Lane& lane, std::vector<float>& y) {
    y = x;
    lane.ops->rope(lane, args(y));
  }
};

struct RouteCase {
  RouterSpec spec = {};
  int64_t n_rows = 1;

  std::string name() const {
    return fmt::format("top{}of{}/rows{}", spec.n_active, spec.n_experts, n_rows);
  }
  int64_t n_routes() const { return n_rows * spec.n_active; }
};

struct RouteInput {
  RouteCase test;
  std::vector<float> logits;  // [n_rows, n_experts]
  std::vector<float> bias;    // [n_experts]

  RouteInput(Random& random, const RouteCase& c)
      : test(c),
        logits(random_floats(random, c.n_rows * c.spec.n_experts, 3)),
        bias(random_floats(random, c.spec.n_experts, 0.1f)) {}

  /// ids and weights: [n_rows, n_active]
  void run(Lane& lane, int32_t* ids, float* weights) {
    lane.ops->route(lane, {.spec = test.spec,
                           .logits = view_of(logits, test.n_rows, test.spec.n_experts),
                           .bias = bias.data(),
                           .ids = ids,
                           .weights = weights});
  }
};

}  // namespace ft::test
