// How the next token is chosen from a row of logits.
#pragma once

#include <cstdint>

namespace ft {

/// Applied in this order: penalties, temperature, top-k, top-p, min-p, draw. The defaults are "take
/// the best token".
struct SamplingParams {
  float temperature = 0;  // 0: the best token, no draw; otherwise logits are divided by it
  int32_t top_k = 0;      // keep the k best; 0: all
  // Keep the smallest set of best tokens whose probability reaches this; 1: all, 0: the best one
  float top_p = 1;
  float min_p = 0;  // keep tokens at least this share as probable as the best; 0: all
  // Divides positive and multiplies negative logits of tokens seen in prompt or reply
  float repetition_penalty = 1;
  float presence_penalty = 0;   // subtracted once from tokens already in the reply
  float frequency_penalty = 0;  // subtracted for each time that a token is in the reply
  uint64_t seed = 0;            // same seed, same prompt, same model: same tokens
};

/// Errors: kBadInput for a parameter outside its range, with its name, its value and the range.
void check_sampling(const SamplingParams& params);

}  // namespace ft
