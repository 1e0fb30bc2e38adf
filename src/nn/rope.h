// Rotary positions: the angles of each position, with the ways of stretching them that checkpoints
// declare.
#pragma once

#include <cstdint>
#include <vector>

namespace ft {

enum class RopeScaling : uint8_t { kNone, kLinear, kLlama3, kYarn };

/// Formulas: linear and NTK-by-parts "YaRN" (arXiv 2309.00071), Llama 3's by wavelength.
struct RopeSpec {
  int64_t d_rotary = 0;  // even
  double theta = 0;
  bool is_interleaved = false;
  RopeScaling scaling = RopeScaling::kNone;
  double factor = 1;
  double original_context = 0;  // llama3, yarn
  double low_freq_factor = 1;   // llama3
  double high_freq_factor = 4;  // llama3
  double beta_fast = 32;        // yarn
  double beta_slow = 1;         // yarn
  bool truncate = true;         // yarn: the borders of its ramp are whole dimensions
  double attention_factor = 1;  // yarn: cosines and sines are multiplied by it
};

/// 0.1 * mscale * ln(factor) + 1 for factor > 1, else 1: YaRN's temperature.
double yarn_mscale(double factor, double mscale);

/// Angle per position of each pair, before positions: [d_rotary / 2].
std::vector<float> rope_frequencies(const RopeSpec& spec);

/// For each position d_rotary / 2 cosines, then as many sines: [n_positions, d_rotary].
std::vector<float> rope_table(const RopeSpec& spec, int64_t n_positions);

}  // namespace ft
