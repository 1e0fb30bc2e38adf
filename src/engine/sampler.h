// Choosing the next token from a row of logits: penalties, temperature, top-k, top-p, min-p, draw.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <unordered_map>
#include <vector>

#include "ft/sampling.h"

namespace ft {

class Sampler {
 public:
  /// Errors: as check_sampling().
  Sampler(const SamplingParams& params, std::span<const int32_t> prompt);

  /// The chosen token. `logits`: [n_vocab]. Errors: kBadInput for NaN.
  int32_t choose(std::span<const float> logits);

 private:
  struct Candidate {
    int32_t token = 0;
    double probability = 0;  // as a multiple of the best token's
  };

  void apply_penalties(std::vector<float>& logits) const;
  static double total_of(const std::vector<Candidate>& candidates);
  void cut(std::vector<Candidate>& candidates) const;
  int32_t draw(std::span<const float> logits, float best);
  double uniform();

  SamplingParams params_;
  std::unordered_map<int32_t, int64_t> n_replied_;  // times that a token is in the reply
  std::vector<int32_t> seen_;                       // tokens of the prompt, each once
  std::mt19937_64 random_;
};

}  // namespace ft
