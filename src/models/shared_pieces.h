// Pieces that several architectures share.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "models/builder.h"

namespace ft {

/// "GQA, 32 heads of 128, 4 for keys and values"
std::string describe_gqa(const DecoderSizes& sizes);

/// Keys that say what else an implementation could compute. Errors: kUnsupported for another value
/// than the one that is computed here; absent ones mean that one.
void require_choice(const Config& config, std::string_view key, std::string_view supported);
void require_flag(const Config& config, std::string_view key);

/// Layers with experts by `decoder_sparse_step` and `mlp_only_layers`.
bool is_sparse_layer(const DecoderBuilder& b, int64_t layer);

/// Sigmoid scores, best groups first, weights that sum to `routed_scaling_factor`: the router of
/// DeepSeek-V3 and its kin.
RouterSpec grouped_sigmoid_router(const DecoderBuilder& b);

/// Its experts with selection bias, and shared experts as one feed-forward block.
MoeBlock grouped_sigmoid_block(DecoderBuilder& b, const std::string& prefix,
                               const RouterSpec& router);

}  // namespace ft
