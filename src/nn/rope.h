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
  double mscale_all = 0;        // yarn: asks for a factor on the scores of latent attention
};

/// 0.1 * mscale * ln(factor) + 1 for factor > 1, else 1: YaRN's temperature.
double yarn_mscale(double factor, double mscale);

/// Angle per position of each pair, before positions: [d_rotary / 2].
std::vector<float> rope_frequencies(const RopeSpec& spec);

/// The angles as operations read them, for all layers of a model.
class RopeTable {
 public:
  RopeTable() = default;
  RopeTable(const RopeSpec& spec, int64_t n_positions);

  static uint64_t n_bytes(const RopeSpec& spec, int64_t n_positions) {
    return static_cast<uint64_t>(n_positions * spec.d_rotary) * sizeof(float);
  }

  /// For each position d_rotary / 2 cosines, then as many sines: [n_positions, d_rotary].
  const float* cos_sin() const { return cos_sin_.data(); }
  const RopeSpec& spec() const { return spec_; }

 private:
  RopeSpec spec_;
  std::vector<float> cos_sin_;
};

}  // namespace ft
