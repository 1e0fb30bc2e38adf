#include "nn/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ft {
namespace {

double llama3(const RopeSpec& spec, double frequency) {
  const double wavelength = 2 * std::numbers::pi / frequency;
  if (wavelength < spec.original_context / spec.high_freq_factor) return frequency;
  if (wavelength > spec.original_context / spec.low_freq_factor) return frequency / spec.factor;
  const double smooth = (spec.original_context / wavelength - spec.low_freq_factor) /
                        (spec.high_freq_factor - spec.low_freq_factor);
  return (1 - smooth) * frequency / spec.factor + smooth * frequency;
}

/// The dimension whose pair turns `rotations` times over the original context.
double yarn_dimension(const RopeSpec& spec, double rotations) {
  return static_cast<double>(spec.d_rotary) *
         std::log(spec.original_context / (rotations * 2 * std::numbers::pi)) /
         (2 * std::log(spec.theta));
}

double yarn(const RopeSpec& spec, double frequency, int64_t pair) {
  double low = yarn_dimension(spec, spec.beta_fast);
  double high = yarn_dimension(spec, spec.beta_slow);
  if (spec.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(spec.d_rotary - 1));
  if (low == high) high += 0.001;
  const double ramp = std::clamp((static_cast<double>(pair) - low) / (high - low), 0.0, 1.0);
  return frequency / spec.factor * ramp + frequency * (1 - ramp);
}

}  // namespace

double yarn_mscale(double factor, double mscale) {
  return factor <= 1 ? 1.0 : 0.1 * mscale * std::log(factor) + 1.0;
}

std::vector<float> rope_frequencies(const RopeSpec& spec) {
  std::vector<float> frequencies;
  for (int64_t pair = 0; pair < spec.d_rotary / 2; ++pair) {
    const double exponent = 2.0 * static_cast<double>(pair) / static_cast<double>(spec.d_rotary);
    double frequency = 1.0 / std::pow(spec.theta, exponent);
    if (spec.scaling == RopeScaling::kLinear) frequency /= spec.factor;
    if (spec.scaling == RopeScaling::kLlama3) frequency = llama3(spec, frequency);
    if (spec.scaling == RopeScaling::kYarn) frequency = yarn(spec, frequency, pair);
    frequencies.push_back(static_cast<float>(frequency));
  }
  return frequencies;
}

RopeTable::RopeTable(const RopeSpec& spec, int64_t n_positions) : spec_(spec) {
  const std::vector<float> frequencies = rope_frequencies(spec);
  cos_sin_.reserve(static_cast<size_t>(n_positions * spec.d_rotary));
  for (int64_t position = 0; position < n_positions; ++position) {
    // Models are trained with angles rounded to float32; at long contexts that is part of the model.
    const auto angle = [&](float frequency) {
      return static_cast<double>(static_cast<float>(position) * frequency);
    };
    for (const float f : frequencies) {
      cos_sin_.push_back(static_cast<float>(std::cos(angle(f)) * spec.attention_factor));
    }
    for (const float f : frequencies) {
      cos_sin_.push_back(static_cast<float>(std::sin(angle(f)) * spec.attention_factor));
    }
  }
}

}  // namespace ft
