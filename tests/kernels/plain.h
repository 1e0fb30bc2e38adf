// What kernels compute, formulated plainly in double precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/ops.h"
#include "tests/support/random_weights.h"

namespace ft::test {

/// The activations that a format's arithmetic multiplies with. Where they become int8: for each
/// block the largest magnitude / 127 times whole numbers (docs/FORMATS.md).
inline std::vector<double> activations(FormatId format, bool exact, const float* x, int64_t n) {
  std::vector<double> seen(x, x + n);
  if (exact || !has_int8_partner(format)) return seen;
  const int64_t block = visit_format(format, [](auto f) -> int64_t { return decltype(f)::kBlock; });
  for (int64_t begin = 0; begin < n; begin += block) {
    float largest = 0;
    for (int64_t i = 0; i < block; ++i) largest = std::max(largest, std::abs(x[begin + i]));
    const float d = largest / 127.0f;
    const float inverse = 1.0f / d;
    for (int64_t i = 0; i < block; ++i) {
      const double whole = std::nearbyint(static_cast<double>(x[begin + i]) * inverse);
      seen[static_cast<size_t>(begin + i)] = largest == 0 ? 0 : d * whole;
    }
  }
  return seen;
}

/// sum_k w x and sum_k |w x| of each output: rounding errors are in proportion to the latter.
struct Product {
  double sum = 0;
  double size = 0;
};

inline Product product(const WeightView& w, int64_t n, const std::vector<double>& x) {
  Product p;
  for (int64_t k = 0; k < w.cols; ++k) {
    const double term = meant(w, n, k) * x[static_cast<size_t>(k)];
    p.sum += term;
    p.size += std::abs(term);
  }
  return p;
}

inline double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

inline double gated(const GateSpec& spec, double gate, double up) {
  if (spec.activation == Activation::kSilu) return gate * sigmoid(gate) * up;
  const double g = std::min<double>(gate, spec.limit);
  const double u = std::clamp<double>(up, -spec.limit, spec.limit);
  return g * sigmoid(spec.alpha * g) * (u + 1);
}

}  // namespace ft::test
