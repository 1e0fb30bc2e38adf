// The order of the steps is that of SamplingParams: what one leaves is what the next one sees.
#include "engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace ft {
namespace {

void check_range(const char* name, float value, float least, float most) {
  if (value >= least && value <= most) return;
  bad_input("{} is {}, it must be from {} to {}", name, value, least, most);
}

float comparable(float logit) {
  return std::isnan(logit) ? -std::numeric_limits<float>::infinity() : logit;
}

}  // namespace

void check_sampling(const SamplingParams& params) {
  constexpr float kMost = 1e6f;
  check_range("temperature", params.temperature, 0, kMost);
  if (params.top_k < 0) bad_input("top-k is {}, it must not be negative", params.top_k);
  check_range("top-p", params.top_p, 0, 1);
  check_range("min-p", params.min_p, 0, 1);
  check_range("repetition-penalty", params.repetition_penalty, 1 / kMost, kMost);
  check_range("presence-penalty", params.presence_penalty, -kMost, kMost);
  check_range("frequency-penalty", params.frequency_penalty, -kMost, kMost);
}

int32_t best_of(std::span<const float> logits) {
  size_t best = 0;
  for (size_t i = 1; i < logits.size(); ++i) {
    if (comparable(logits[i]) > comparable(logits[best])) best = i;
  }
  return static_cast<int32_t>(best);
}

Sampler::Sampler(const SamplingParams& params, std::span<const int32_t> prompt)
    : params_(params), random_(params.seed) {
  check_sampling(params);
  seen_.assign(prompt.begin(), prompt.end());
  std::sort(seen_.begin(), seen_.end());
  seen_.erase(std::unique(seen_.begin(), seen_.end()), seen_.end());
}

void Sampler::apply_penalties(std::vector<float>& logits) const {
  const auto repeat = [&](int32_t token) {
    float& logit = logits[static_cast<size_t>(token)];
    logit = logit > 0 ? logit / params_.repetition_penalty : logit * params_.repetition_penalty;
  };
  if (params_.repetition_penalty != 1) {
    for (const int32_t token : seen_) repeat(token);
    for (const auto& [token, count] : n_replied_) {
      if (!std::binary_search(seen_.begin(), seen_.end(), token)) repeat(token);
    }
  }
  for (const auto& [token, count] : n_replied_) {
    logits[static_cast<size_t>(token)] -=
        params_.presence_penalty + params_.frequency_penalty * static_cast<float>(count);
  }
}

/// Candidates are sorted, best first, with the probabilities of all of them.
void Sampler::cut(std::vector<Candidate>& candidates) const {
  size_t n = candidates.size();
  if (params_.top_k > 0) n = std::min(n, static_cast<size_t>(params_.top_k));
  double total = 0;
  for (size_t i = 0; i < n; ++i) total += candidates[i].probability;
  double sum = 0;
  size_t n_kept = 0;
  while (n_kept < n && (n_kept == 0 || sum < params_.top_p * total))
    sum += candidates[n_kept++].probability;
  const double least = params_.min_p * candidates.front().probability;
  while (n_kept > 1 && candidates[n_kept - 1].probability < least) --n_kept;
  candidates.resize(n_kept);
}

/// [0, 1) from 53 random bits: the same on every platform, unlike std::uniform_real_distribution.
double Sampler::uniform() {
  return static_cast<double>(random_() >> 11) * 0x1p-53;
}

int32_t Sampler::choose(std::span<const float> logits) {
  std::vector<float> adjusted(logits.begin(), logits.end());
  apply_penalties(adjusted);
  int32_t chosen = best_of(adjusted);
  if (params_.temperature > 0) {
    const float best = adjusted[static_cast<size_t>(chosen)];
    std::vector<Candidate> candidates;
    candidates.reserve(adjusted.size());
    for (size_t i = 0; i < adjusted.size(); ++i) {
      const float logit = comparable(adjusted[i]);
      const double probability = std::exp(static_cast<double>(logit - best) / params_.temperature);
      if (probability > 0) candidates.push_back({static_cast<int32_t>(i), logit, probability});
    }
    std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
      return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
    });
    if (!candidates.empty()) {  // an infinite best logit leaves none, and stays the choice
      cut(candidates);
      double total = 0;
      for (const Candidate& c : candidates) total += c.probability;
      double left = uniform() * total;
      size_t at = 0;
      while (at + 1 < candidates.size() && left >= candidates[at].probability)
        left -= candidates[at++].probability;
      chosen = candidates[at].token;
    }
  }
  ++n_replied_[chosen];
  return chosen;
}

}  // namespace ft
