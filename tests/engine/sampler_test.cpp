#include "engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "base/error.h"

namespace ft {
namespace {

/// How often each token is drawn.
std::map<int32_t, double> shares(const SamplingParams& params, const std::vector<float>& logits,
                                 int n = 20000) {
  std::map<int32_t, double> share;
  SamplingParams p = params;
  p.seed = 42;
  Sampler sampler(p, {});
  for (int i = 0; i < n; ++i) share[sampler.choose(logits)] += 1.0 / n;
  return share;
}

TEST(Sampler, WithoutTemperatureTakesTheBestAndTheLowerOfEqual) {
  Sampler sampler({}, {});
  EXPECT_EQ(sampler.choose(std::vector<float>{1, 3, 3, 2}), 1);
}

TEST(Sampler, WhatIsNoNumberIsRefused) {
  for (const float temperature : {0.0f, 1.0f}) {
    Sampler sampler({.temperature = temperature}, {});
    EXPECT_THROW(sampler.choose(std::vector<float>{1, -5, NAN}), Error);
  }
}

TEST(Sampler, DrawsByProbability) {
  const std::vector<float> logits = {0, std::log(2.0f), std::log(5.0f)};
  const auto share = shares({.temperature = 1}, logits);
  EXPECT_NEAR(share.at(0), 1.0 / 8, 0.01);
  EXPECT_NEAR(share.at(1), 2.0 / 8, 0.015);
  EXPECT_NEAR(share.at(2), 5.0 / 8, 0.015);
}

TEST(Sampler, TemperatureSharpens) {
  const auto share = shares({.temperature = 0.5f}, {0, std::log(2.0f)});
  EXPECT_NEAR(share.at(1), 4.0 / 5, 0.015);
}

TEST(Sampler, TopKTopPAndMinPCut) {
  const std::vector<float> logits = {std::log(1.0f), std::log(2.0f), std::log(3.0f),
                                     std::log(4.0f)};
  EXPECT_EQ(shares({.temperature = 1, .top_k = 2}, logits).size(), 2u);
  EXPECT_EQ(shares({.temperature = 1, .top_p = 0.35f}, logits).size(), 1u);  // 4 of 10 is enough
  EXPECT_EQ(shares({.temperature = 1, .top_p = 0.65f}, logits).size(), 2u);  // 4 + 3 of 10
  EXPECT_EQ(shares({.temperature = 1, .min_p = 0.45f}, logits).size(), 3u);  // at least 1.8 of 4
  EXPECT_EQ(shares({.temperature = 1, .top_k = 3, .top_p = 0.75f}, logits).size(),
            2u);  // 7 of 9 is enough
}

/// What top-k, top-p and min-p leave, with everything sorted.
std::set<int32_t> kept_by_sorting(const SamplingParams& p, const std::vector<float>& logits) {
  std::vector<std::pair<double, int32_t>> all;
  for (size_t i = 0; i < logits.size(); ++i)
    all.emplace_back(-std::exp(static_cast<double>(logits[i])), static_cast<int32_t>(i));
  std::sort(all.begin(), all.end());
  if (p.top_k > 0 && p.top_k < std::ssize(all)) all.resize(static_cast<size_t>(p.top_k));
  double total = 0;
  for (const auto& [minus, token] : all) total -= minus;
  std::set<int32_t> kept;
  double sum = 0;
  for (const auto& [minus, token] : all) {
    if (!kept.empty() && (sum >= p.top_p * total || -minus < p.min_p * -all.front().first)) break;
    kept.insert(token);
    sum -= minus;
  }
  return kept;
}

TEST(Sampler, KeepsWhatSortingEverythingKeeps) {
  std::mt19937 random(1);
  std::vector<float> logits(30);
  for (int round = 0; round < 200; ++round) {
    for (float& logit : logits) logit = static_cast<float>(random() % 7) / 8;  // many are equal
    const SamplingParams p{.temperature = 1,
                           .top_k = static_cast<int32_t>(random() % 2 * (random() % 35)),
                           .top_p = static_cast<float>(random() % 101) / 100,
                           .min_p = static_cast<float>(random() % 2 * (random() % 101)) / 100};
    std::set<int32_t> drawn;
    for (const auto& [token, share] : shares(p, logits, 2000)) drawn.insert(token);
    EXPECT_EQ(drawn, kept_by_sorting(p, logits))
        << "top-k " << p.top_k << ", top-p " << p.top_p << ", min-p " << p.min_p;
  }
}

TEST(Sampler, SameSeedSameTokens) {
  std::vector<float> logits(100);
  for (size_t i = 0; i < logits.size(); ++i) logits[i] = std::sin(static_cast<float>(i));
  const auto draw = [&](uint64_t seed) {
    Sampler sampler({.temperature = 1, .seed = seed}, {});
    std::vector<int32_t> tokens;
    for (int i = 0; i < 50; ++i) tokens.push_back(sampler.choose(logits));
    return tokens;
  };
  EXPECT_EQ(draw(7), draw(7));
  EXPECT_NE(draw(7), draw(8));
}

TEST(Sampler, RepetitionPenaltyReachesPromptAndReply) {
  const std::vector<int32_t> prompt = {0, 0, 0};
  Sampler sampler({.repetition_penalty = 2}, prompt);
  EXPECT_EQ(sampler.choose(std::vector<float>{3, 2, 1}), 1);     // 1.5, 2, 1
  EXPECT_EQ(sampler.choose(std::vector<float>{1, 3, 1.6f}), 2);  // 0.5, 1.5, 1.6
  EXPECT_EQ(sampler.choose(std::vector<float>{-1, -2, -3}),
            0);  // negative ones are multiplied: -2, -4, -6
}

TEST(Sampler, PresenceAndFrequencyCountTheReplyOnly) {
  const std::vector<int32_t> prompt = {0};
  Sampler presence({.presence_penalty = 2}, prompt);
  EXPECT_EQ(presence.choose(std::vector<float>{3, 2}), 0);
  EXPECT_EQ(presence.choose(std::vector<float>{3, 2}), 1);
  EXPECT_EQ(presence.choose(std::vector<float>{3, 2}), 0);
  Sampler frequency({.frequency_penalty = 0.6f}, prompt);
  EXPECT_EQ(frequency.choose(std::vector<float>{3, 2}), 0);
  EXPECT_EQ(frequency.choose(std::vector<float>{3, 2}), 0);
  EXPECT_EQ(frequency.choose(std::vector<float>{3, 2}), 1);
}

TEST(Sampler, ImpossibleParametersAreRefused) {
  for (const SamplingParams& p :
       {SamplingParams{.temperature = -1}, SamplingParams{.temperature = NAN},
        SamplingParams{.top_k = -3}, SamplingParams{.top_p = -0.1f}, SamplingParams{.top_p = 1.1f},
        SamplingParams{.min_p = 2}, SamplingParams{.repetition_penalty = 0},
        SamplingParams{.presence_penalty = INFINITY}, SamplingParams{.frequency_penalty = NAN}}) {
    EXPECT_THROW(Sampler(p, {}), Error);
    EXPECT_THROW(check_sampling(p), Error);
  }
}

TEST(Sampler, TheEndsOfTheRangesAreAllowed) {
  for (const SamplingParams& p :
       {SamplingParams{}, SamplingParams{.temperature = 1e6f}, SamplingParams{.top_k = INT32_MAX},
        SamplingParams{.top_p = 0}, SamplingParams{.min_p = 1},
        SamplingParams{.repetition_penalty = 1e-6f}, SamplingParams{.repetition_penalty = 1e6f},
        SamplingParams{.presence_penalty = -1e6f}}) {
    EXPECT_NO_THROW(check_sampling(p));
  }
}

TEST(Sampler, ARefusalHasTheNameTheValueAndTheRange) {
  try {
    check_sampling({.min_p = 2});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_STREQ(error.what(), "min-p is 2, it must be from 0 to 1");
  }
}

TEST(Sampler, TopPZeroIsTheBestToken) {
  EXPECT_EQ(shares({.temperature = 5, .top_p = 0}, {1, 3, 3, 2}).size(), 1u);
  EXPECT_EQ(shares({.temperature = 5, .top_p = 0}, {1, 3, 3, 2}).begin()->first, 1);
}

TEST(Sampler, InfiniteLogitsDoNotBreakTheDraw) {
  Sampler sampler({.temperature = 1}, {});
  EXPECT_EQ(sampler.choose(std::vector<float>{0, INFINITY, 1}), 1);
  EXPECT_EQ(sampler.choose(std::vector<float>{-INFINITY, -INFINITY, -INFINITY}), 0);
}

}  // namespace
}  // namespace ft
