#include "models/decoder.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace ft {
namespace {

/// Callable made of one lambda for each alternative of a variant.
template <typename... Cases>
struct Match : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Match(Cases...) -> Match<Cases...>;

KvShape kv_shape_of(const DecoderLayer& layer) {
  return std::visit(Match{[](const GqaLayer& a) {
                            return KvShape{.n_kv_heads = a.spec.n_kv_heads,
                                           .d_k = a.spec.d_head,
                                           .d_v = a.spec.d_head};
                          },
                          [](const MlaLayer& a) {
                            return KvShape{.n_kv_heads = 1,
                                           .d_k = a.spec.d_latent + a.spec.d_rope,
                                           .d_v = a.spec.d_latent,
                                           .values_in_keys = true};
                          }},
                    layer.attention);
}

void complete_card(ModelCard& card, const DecoderParts& parts, const ExpertBank& bank) {
  uint64_t n_dense = 0;
  for (const auto& [format, tally] : parts.weights->dense_tally()) {
    n_dense += tally.n_values;
    card.dense_bytes += tally.n_bytes;
  }
  const ExpertShape& shape = bank.layout().shape();
  const auto per_expert = static_cast<uint64_t>(3 * shape.d_model * shape.d_expert);
  const auto n_active = static_cast<uint64_t>(card.n_moe_layers * card.router.n_active);
  const auto n_all = static_cast<uint64_t>(card.n_moe_layers * card.router.n_experts);
  const bool is_tied = parts.embedding.codes == parts.head.codes;
  const auto n_embedding = static_cast<uint64_t>(card.n_vocab * card.d_model);
  card.n_params = n_dense + n_all * per_expert;
  card.n_active_params = n_dense - (is_tied ? 0 : n_embedding) + n_active * per_expert;
  card.step_bytes = card.dense_bytes - (is_tied ? 0 : bytes_of(parts.embedding)) +
                    n_active * bank.layout().read_bytes();
  card.kv = kv_shape_of(parts.layers.front());
  card.kv.n_layers = card.n_layers;
}

/// fn(weight, name) for each dense matrix that a step multiplies with as a whole, except routers: their
/// logits decide, and they are small.
template <typename Fn>
void for_each_linear(DecoderParts& parts, Fn fn) {
  for (size_t i = 0; i < parts.layers.size(); ++i) {
    DecoderLayer& layer = parts.layers[i];
    const auto visit = [&](const char* name, WeightView& weight) {
      fn(weight, fmt::format("layer {}, {}", i, name));
    };
    const auto visit_feed_forward = [&](FeedForward& block) {
      visit("feed-forward gate", block.gate);
      visit("feed-forward up", block.up);
      visit("feed-forward down", block.down);
    };
    std::visit(Match{[&](GqaLayer& a) {
                       visit("attention q", a.q);
                       visit("attention k", a.k);
                       visit("attention v", a.v);
                       visit("attention o", a.o);
                     },
                     [&](MlaLayer& a) {
                       if (a.spec.d_q_latent > 0) visit("attention q_a", a.q_down);
                       visit("attention q", a.q);
                       visit("attention kv_a", a.kv_down);
                       visit("attention o", a.o);
                     }},
               layer.attention);
    std::visit(Match{visit_feed_forward,
                     [&](MoeBlock& block) {
                       if (block.shared) visit_feed_forward(*block.shared);
                     }},
               layer.feed_forward);
  }
  fn(parts.head, "the head");
}

class Decoder : public Model {
 public:
  explicit Decoder(DecoderParts parts) {
    bank_ = std::make_unique<ExpertBank>(std::move(parts.experts), parts.card.router.n_experts);
    complete_card(parts.card, parts, *bank_);
    card_ = std::move(parts.card);
    weights_ = std::move(parts.weights);
    parts_ = std::move(parts);
  }

  void plan_q8() override;
  void prepare(int64_t n_context) override { rope_ = RopeTable(parts_.rope, n_context); }
  uint64_t table_bytes(int64_t n_context) const override {
    return RopeTable::n_bytes(parts_.rope, n_context);
  }
  uint64_t kv_step_bytes(const KvShape& kv, int64_t n_positions) const override;
  uint64_t scratch_bytes(const StepLimits& limits) const override;
  void forward(const Step& step, const TensorView& logits) override;

 private:
  void run_moe(const Step& step, const MoeBlock& block, const TensorView& h,
               const TensorView& residual) const;
  void run_head(const Step& step, const TensorView& x, const TensorView& logits) const;
  uint64_t moe_scratch_bytes(const MoeBlock& block, const StepLimits& limits) const;

  DecoderParts parts_;  // less what Model holds: card, experts, weights
  RopeTable rope_;
};

void Decoder::plan_q8() {
  const uint8_t* const embedding = parts_.embedding.codes;
  for_each_linear(parts_, [&](WeightView& weight, std::string name) {
    const WeightView before = weight;
    dense_bank_.add(weight, std::move(name));
    card_.step_bytes = card_.step_bytes - bytes_of(before) + bytes_of(weight);
    const bool is_idle = weight.format != before.format && before.codes != embedding;
    if (is_idle) card_.idle_bytes += bytes_of(before);
  });
}

void Decoder::forward(const Step& step, const TensorView& logits) {
  Lane& lane = step.lane;
  const Ops& ops = *lane.ops;
  const Arena::Scope scope(*lane.arena);
  const TensorView x = scratch(lane, step.batch.rows.n_rows, card_.d_model);
  const TensorView h = scratch(lane, step.batch.rows.n_rows, card_.d_model);
  ops.embed(lane, {.table = parts_.embedding, .tokens = step.batch.tokens, .y = x});
  for (const DecoderLayer& layer : parts_.layers) {
    ops.norm(
        lane,
        {.x = x, .y = h, .weight = layer.attention_norm, .d = card_.d_model, .eps = parts_.eps});
    std::visit([&](const auto& attention) { attend(step, attention, rope_, h, x); },
               layer.attention);
    ops.norm(
        lane,
        {.x = x, .y = h, .weight = layer.feed_forward_norm, .d = card_.d_model, .eps = parts_.eps});
    std::visit(Match{[&](const FeedForward& block) { feed_forward(lane, block, h, x, true); },
                     [&](const MoeBlock& block) { run_moe(step, block, h, x); }},
               layer.feed_forward);
  }
  run_head(step, x, logits);
}

void Decoder::run_moe(const Step& step, const MoeBlock& block, const TensorView& h,
                      const TensorView& residual) const {
  Lane& lane = step.lane;
  const Arena::Scope scope(*lane.arena);
  const ExpertWork work = begin_experts(lane, block.experts, *bank_, h);
  TensorView shared;
  TensorView gate;
  if (block.shared) {
    shared = scratch(lane, h.rows, card_.d_model);
    feed_forward(lane, *block.shared, h, shared, false);
    if (block.shared_gate) {
      gate = scratch(lane, h.rows, 1);
      lane.ops->linear(lane, {.w = *block.shared_gate, .x = h, .y = gate});
    }
  }
  finish_experts(lane, work, residual);
  if (block.shared) lane.ops->add(lane, {.y = residual, .x = shared, .gate = gate});
}

void Decoder::run_head(const Step& step, const TensorView& x, const TensorView& logits) const {
  Lane& lane = step.lane;
  const TensorView last = scratch(lane, step.batch.n_logit_rows, card_.d_model);
  const int32_t* rows = step.batch.logit_rows;
  for (int64_t begin = 0, end = 0; begin < last.rows; begin = end) {  // runs of neighbours
    for (end = begin + 1; end < last.rows && rows[end] == rows[end - 1] + 1;) ++end;
    lane.ops->norm(lane, {.x = x.slice(rows[begin], end - begin),
                          .y = last.slice(begin, end - begin),
                          .weight = parts_.final_norm,
                          .d = card_.d_model,
                          .eps = parts_.eps});
  }
  if (last.rows > 0)
    lane.ops->linear(lane, {.w = parts_.head, .x = last, .y = logits, .keeps_x = true});
}

uint64_t Decoder::kv_step_bytes(const KvShape& kv, int64_t n_positions) const {
  uint64_t n_read = 0;  // positions of all layers
  for (const DecoderLayer& layer : parts_.layers) {
    const auto* const gqa = std::get_if<GqaLayer>(&layer.attention);
    const int64_t window = gqa != nullptr ? gqa->spec.window : 0;
    n_read += static_cast<uint64_t>(window > 0 ? std::min(window, n_positions) : n_positions);
  }
  return n_read * (kv_bytes_per_token(kv) / static_cast<uint64_t>(kv.n_layers));
}

uint64_t Decoder::moe_scratch_bytes(const MoeBlock& block, const StepLimits& limits) const {
  uint64_t shared = 0;
  if (block.shared) {
    shared = Arena::bytes_for<float>(limits.n_rows * card_.d_model) +
             ft::scratch_bytes(*block.shared, limits) + Arena::bytes_for<float>(limits.n_rows) +
             linear_scratch_bytes(limits.n_rows, card_.d_model, limits);
  }
  return ft::scratch_bytes(block.experts, *bank_, limits) + shared;
}

uint64_t Decoder::scratch_bytes(const StepLimits& limits) const {
  const uint64_t rows = Arena::bytes_for<float>(limits.n_rows * card_.d_model);
  uint64_t largest = rows + linear_scratch_bytes(limits.n_rows, card_.d_model, limits);  // the head
  for (const DecoderLayer& layer : parts_.layers) {
    const uint64_t attention =
        std::visit([&](const auto& a) { return ft::scratch_bytes(a, limits); }, layer.attention);
    const uint64_t block =
        std::visit(Match{[&](const FeedForward& f) { return ft::scratch_bytes(f, limits); },
                         [&](const MoeBlock& moe) { return moe_scratch_bytes(moe, limits); }},
                   layer.feed_forward);
    largest = std::max({largest, attention, block});
  }
  return 2 * rows + largest;  // the residual stream, and what is normed of it
}

}  // namespace

std::unique_ptr<Model> make_decoder(DecoderParts parts) {
  return std::make_unique<Decoder>(std::move(parts));
}

}  // namespace ft
