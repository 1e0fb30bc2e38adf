// One model ready to run: bank filled, threads, scratch and KV pages in place. Runs steps; chooses
// nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/team.h"
#include "device/arena.h"
#include "engine/placement.h"
#include "kernels/lane.h"
#include "models/model.h"
#include "nn/kv_cache.h"

namespace ft {

/// The rows of a step whose logits are wanted.
enum class LogitRows : uint8_t { kNone, kLast, kAll };

/// Decode never rounds activations further than a format does; prefill may, where the lane may.
enum class Phase : uint8_t { kPrefill, kDecode };

class Runner {
 public:
  /// `lane` has no arena yet: the runner gives it one.
  Runner(Model& model, const Placement& placement, const Lane& lane);

  /// Runs `tokens` at positions first, first + 1, ... of the sequence whose pages are given (and
  /// grown before), and returns the logits that are wanted. [n_logit_rows, n_vocab], valid until
  /// the next step.
  std::span<const float> step(std::span<const int32_t> tokens, int64_t first,
                              const PageTable& pages, LogitRows wanted, Phase phase);

  KvCache& kv() { return kv_; }
  const Arena& arena() const { return arena_; }
  const Placement& placement() const { return placement_; }
  const Model& model() const { return model_; }

 private:
  Model& model_;
  Placement placement_;
  Arena arena_;
  Lane lane_;
  bool may_round_;
  KvCache kv_;
  std::vector<float> logits_;           // [n_logit_rows, n_vocab]
  std::vector<int32_t> positions_;      // [n_prefill_rows]
  std::vector<const int32_t*> tables_;  // [n_prefill_rows]
  std::vector<int32_t> logit_rows_;     // [n_prefill_rows]
};

}  // namespace ft
