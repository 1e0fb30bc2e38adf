// A dense multiplication: its sizes, random inputs of them, and what it costs. Tests and bench run
// the same.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/ops.h"
#include "tests/support/random_weights.h"

namespace ft::test {

struct LinearCase {
  FormatId format = kIdOf<Bf16>;
  int64_t n_rows = 1;
  int64_t d_in = 0;
  int64_t d_out = 0;
  bool has_bias = false;
  bool accumulate = false;

  std::string name() const {
    return fmt::format("{}/{}x{}/rows{}{}{}", name_of(format), d_in, d_out, n_rows,
                       has_bias ? "/bias" : "", accumulate ? "/accumulate" : "");
  }
  int64_t n_outputs() const { return n_rows * d_out; }
  /// Of weights, each once.
  uint64_t read_bytes() const { return bytes_of({.format = format, .rows = d_out, .cols = d_in}); }
  double multiply_adds() const {
    return static_cast<double>(n_rows) * static_cast<double>(d_in) * static_cast<double>(d_out);
  }
};

struct LinearInput {
  LinearCase test;
  RandomMatrix w;
  std::vector<float> x;       // [n_rows, d_in]
  std::vector<float> bias;    // [d_out]
  std::vector<float> before;  // [n_rows, d_out]: what the result is added to

  LinearInput(Random& random, const LinearCase& c, RowGaps gaps = RowGaps::kOdd)
      : test(c),
        w(random, c.format, c.d_out, c.d_in, gaps),
        x(random_floats(random, c.n_rows * c.d_in)),
        bias(random_floats(random, c.d_out)),
        before(random_floats(random, c.n_outputs())) {}

  LinearArgs args(std::vector<float>& y) {
    return {.w = w.view,
            .x = view_of(x, test.n_rows, test.d_in),
            .y = view_of(y, test.n_rows, test.d_out),
            .bias = test.has_bias ? bias.data() : nullptr,
            .accumulate = test.accumulate};
  }

  /// y: [n_rows, d_out]
  void run(Lane& lane, std::vector<float>& y) {
    if (test.accumulate) y = before;
    lane.ops->linear(lane, args(y));
  }
};

}  // namespace ft::test
