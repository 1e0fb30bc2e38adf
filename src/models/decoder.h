// The decoder that most Mixture-of-Experts models are: for each layer norm, attention, norm,
// feed-forward or experts, with a residual stream. An architecture is what it puts into the layers.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "experts/expert_layer.h"
#include "models/model.h"
#include "nn/attention.h"
#include "nn/feed_forward.h"
#include "nn/mla.h"

namespace ft {

struct MoeBlock {
  ExpertLayer experts = {};
  std::optional<FeedForward> shared = {};      // added to the experts' sum
  std::optional<WeightView> shared_gate = {};  // [1, d_model]: its sigmoid weighs the shared expert
};

struct DecoderLayer {
  const float* attention_norm = nullptr;  // [d_model]
  std::variant<GqaLayer, MlaLayer> attention;
  const float* feed_forward_norm = nullptr;  // [d_model]
  std::variant<FeedForward, MoeBlock> feed_forward;
};

struct DecoderParts {
  ModelCard card;
  WeightView embedding;  // [n_vocab, d_model]
  WeightView head;       // [n_vocab, d_model]; the embedding where they are tied
  const float* final_norm = nullptr;
  float eps = 0;
  RopeSpec rope;  // of all layers
  std::vector<DecoderLayer> layers;
  std::vector<ExpertSource> experts;  // [n_moe_layers, n_experts]
  std::unique_ptr<Weights> weights;
};

/// Completes the card: parameters, bytes, the KV cache's shape.
std::unique_ptr<Model> make_decoder(DecoderParts parts);

}  // namespace ft
