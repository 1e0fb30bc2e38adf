// The order of the steps is that of SamplingParams: what one leaves is what the next one sees.
#include "engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace ft {
namespace {

void check_range(const char* name, float value, float least, float most) {
  if (value >= least && value <= most) return;
  bad_input("{} is {}, it must be from {} to {}", name, value, least, most);
}

void check_numbers(std::span<const float> logits) {
  for (size_t i = 0; i < logits.size(); ++i) {
    if (!std::isnan(logits[i])) continue;
    bad_input(
        "the model's logit of token {} is not a number: its weights or its configuration are "
        "damaged; fetch the model again",
        i);
  }
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

double Sampler::total_of(const std::vector<Candidate>& candidates) {
  double total = 0;
  for (const Candidate& c : candidates) total += c.probability;
  return total;
}

/// Of a whole vocabulary few are kept, so that nothing is sorted but those.
void Sampler::cut(std::vector<Candidate>& candidates) const {
  const auto better = [](const Candidate& a, const Candidate& b) {
    return a.probability != b.probability ? a.probability > b.probability : a.token < b.token;
  };
  const auto worse = [&](const Candidate& a, const Candidate& b) { return better(b, a); };
  if (params_.top_k > 0 && std::cmp_less(params_.top_k, candidates.size())) {
    const auto end = candidates.begin() + params_.top_k;
    std::partial_sort(candidates.begin(), end, candidates.end(), better);
    candidates.erase(end, candidates.end());
  }
  if (params_.top_p < 1) {
    const double enough = params_.top_p * total_of(candidates);
    std::make_heap(candidates.begin(), candidates.end(), worse);
    auto kept = candidates.end();  // what lies behind, the best last
    double sum = 0;
    do {
      std::pop_heap(candidates.begin(), kept--, worse);
      sum += kept->probability;
    } while (kept != candidates.begin() && sum < enough);
    candidates.erase(candidates.begin(), kept);
  }
  // The best one has the probability 1, see choose().
  std::erase_if(candidates, [&](const Candidate& c) { return c.probability < params_.min_p; });
}

/// [0, 1) from 53 random bits: the same on every platform, unlike std::uniform_real_distribution.
double Sampler::uniform() {
  return static_cast<double>(random_() >> 11) * 0x1p-53;
}

int32_t Sampler::draw(std::span<const float> logits, float best) {
  std::vector<Candidate> candidates;
  candidates.reserve(logits.size());
  for (size_t i = 0; i < logits.size(); ++i) {
    const double distance = static_cast<double>(logits[i]) - best;
    const double probability = std::exp(distance / params_.temperature);
    if (probability > 0) candidates.push_back({static_cast<int32_t>(i), probability});
  }
  cut(candidates);
  double left = uniform() * total_of(candidates);
  size_t at = 0;
  while (at + 1 < candidates.size() && left >= candidates[at].probability)
    left -= candidates[at++].probability;
  return candidates[at].token;
}

int32_t Sampler::choose(std::span<const float> logits) {
  check_numbers(logits);
  std::vector<float> adjusted(logits.begin(), logits.end());
  apply_penalties(adjusted);
  const auto best = std::max_element(adjusted.begin(), adjusted.end());  // of equal ones the first
  auto chosen = static_cast<int32_t>(best - adjusted.begin());
  if (params_.temperature > 0 && std::isfinite(*best)) chosen = draw(adjusted, *best);
  ++n_replied_[chosen];
  return chosen;
}

}  // namespace ft
