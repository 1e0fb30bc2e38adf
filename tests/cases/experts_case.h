// The experts of a layer: sizes, random records, rows and routes, and what they cost. Tests and
// bench run the same.
#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/ops.h"
#include "tests/support/random_weights.h"

namespace ft::test {

struct ExpertsCase {
  ExpertShape shape = {};
  int64_t n_rows = 1;
  int64_t n_experts = 1;
  int64_t n_active = 1;
  GateSpec gate = {};
  // One of so many routes is somebody else's; 0: none
  uint64_t elsewhere_every = 0;

  std::string name() const {
    return fmt::format("{}/{}x{}/top{}/rows{}", name_of(shape.format), shape.d_model,
                       shape.d_expert, n_active, n_rows);
  }
  int64_t n_routes() const { return n_rows * n_active; }
  int64_t n_outputs() const { return n_routes() * shape.d_model; }
  /// Of the experts that are asked for, each once: rows ask for one after the other.
  uint64_t read_bytes() const {
    return static_cast<uint64_t>(std::min(n_routes(), n_experts)) *
           ExpertLayout(shape).read_bytes();
  }
  double multiply_adds() const {
    return 3 * static_cast<double>(n_routes()) * static_cast<double>(shape.d_model) *
           static_cast<double>(shape.d_expert);
  }
};

struct ExpertsInput {
  ExpertsCase test;
  ExpertLayout layout;
  std::vector<uint8_t> records;  // of n_records experts
  std::vector<float> x;          // [n_rows, d_model]
  // All experts in a random order, again and again: any n_routes of them that follow each other are
  // routes of n_rows rows, and no row has an expert twice. [n_experts + n_routes]
  std::vector<int32_t> order;

  /// `n_records` may be less than n_experts for who has records of his own.
  ExpertsInput(Random& random, const ExpertsCase& c, int64_t n_records)
      : test(c),
        layout(c.shape),
        records(random_records(random, layout, n_records)),
        x(random_floats(random, c.n_rows * c.shape.d_model)),
        order(static_cast<size_t>(c.n_experts)) {
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    for (int64_t i = 0; i < c.n_routes(); ++i) order.push_back(order[static_cast<size_t>(i)]);
    if (c.elsewhere_every == 0) return;
    for (int32_t& id : order) id = random() % c.elsewhere_every == 0 ? -1 : id;
  }
  ExpertsInput(Random& random, const ExpertsCase& c) : ExpertsInput(random, c, c.n_experts) {}

  /// The ids of all routes: [n_rows, n_active]. `first` is below n_experts.
  const int32_t* ids(int64_t first = 0) const { return order.data() + first; }

  ExpertsArgs args(std::vector<float>& y) {
    return {.layout = &layout,
            .records = records.data(),
            .n_experts = test.n_experts,
            .gate = test.gate,
            .x = view_of(x, test.n_rows, test.shape.d_model),
            .ids = ids(),
            .n_active = test.n_active,
            .results = view_of(y, test.n_routes(), test.shape.d_model)};
  }

  /// y: [n_rows, n_active, d_model]
  void run(Lane& lane, std::vector<float>& y) { lane.ops->experts(lane, args(y)); }
};

}  // namespace ft::test
