#include "models/decoder.h"

#include <algorithm>
#include <utility>

namespace ft {
namespace {

/// Callable made of one lambda for each alternative of a variant.
template <typename... Cases>
struct Match : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Match(Cases...) -> Match<Cases...>;

const RopeSpec& rope_of(const DecoderLayer& layer) {
  return std::visit([](const auto& attention) -> const RopeSpec& { return attention.rope; },
                    layer.attention);
}

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

class Decoder : public Model {
 public:
  explicit Decoder(DecoderParts parts)
      : embedding_(parts.embedding),
        head_(parts.head),
        final_norm_(parts.final_norm),
        eps_(parts.eps),
        layers_(std::move(parts.layers)) {
    bank_ = std::make_unique<ExpertBank>(std::move(parts.experts), parts.card.router.n_experts);
    parts.layers = layers_;
    complete_card(parts.card, parts, *bank_);
    card_ = std::move(parts.card);
    weights_ = std::move(parts.weights);
  }

  void prepare(int64_t n_context) override {
    cos_sin_ = rope_table(rope_of(layers_.front()), n_context);
  }

  uint64_t scratch_bytes(int64_t n_rows, int64_t n_context, int n_threads) const override;
  void forward(const Step& step, const TensorView& logits) override;

 private:
  void run_moe(const Step& step, const MoeBlock& block, const TensorView& h,
               const TensorView& residual) const;
  void run_head(const Step& step, const TensorView& x, const TensorView& logits) const;

  WeightView embedding_;
  WeightView head_;
  const float* final_norm_;
  float eps_;
  std::vector<DecoderLayer> layers_;
  std::vector<float> cos_sin_;  // [n_context, d_rotary]
};

void Decoder::forward(const Step& step, const TensorView& logits) {
  Lane& lane = step.lane;
  const Ops& ops = *lane.ops;
  const Arena::Scope scope(*lane.arena);
  const TensorView x = scratch(lane, step.batch.rows.n_rows, card_.d_model);
  const TensorView h = scratch(lane, step.batch.rows.n_rows, card_.d_model);
  ops.embed(lane, {.table = embedding_, .tokens = step.batch.tokens, .y = x});
  for (const DecoderLayer& layer : layers_) {
    ops.norm(lane,
             {.x = x, .y = h, .weight = layer.attention_norm, .d = card_.d_model, .eps = eps_});
    std::visit([&](const auto& attention) { attend(step, attention, cos_sin_.data(), h, x); },
               layer.attention);
    ops.norm(lane,
             {.x = x, .y = h, .weight = layer.feed_forward_norm, .d = card_.d_model, .eps = eps_});
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
  for (int64_t i = 0; i < step.batch.n_logit_rows; ++i) {
    const TensorView from = {
        .data = x.row(step.batch.logit_rows[i]), .rows = 1, .cols = x.cols, .stride = x.stride};
    const TensorView to = {.data = last.row(i), .rows = 1, .cols = x.cols, .stride = last.stride};
    lane.ops->norm(lane,
                   {.x = from, .y = to, .weight = final_norm_, .d = card_.d_model, .eps = eps_});
  }
  if (step.batch.n_logit_rows > 0) lane.ops->linear(lane, {.w = head_, .x = last, .y = logits});
}

/// The widest row of activations of a layer's attention, all of its matrices together.
int64_t attention_width(const DecoderLayer& layer) {
  return std::visit(Match{[](const GqaLayer& a) { return a.q.rows + a.k.rows + a.v.rows; },
                          [](const MlaLayer& a) {
                            const MlaSpec& s = a.spec;
                            return a.q.rows + s.d_q_latent + a.kv_down.rows +
                                   s.n_heads * (2 * s.d_latent + s.d_rope + s.d_value);
                          }},
                    layer.attention);
}

/// The widest input of a multiplication in a layer's attention.
int64_t attention_input(const DecoderLayer& layer) {
  return std::visit(
      Match{
          [](const GqaLayer& a) { return std::max(a.q.cols, a.o.cols); },
          [](const MlaLayer& a) {
            return std::max({a.kv_down.cols, a.o.cols, a.spec.n_heads * (a.spec.d_latent + 1024)});
          }},
      layer.attention);
}

uint64_t Decoder::scratch_bytes(int64_t n_rows, int64_t n_context, int n_threads) const {
  constexpr uint64_t kAlign = 64 * 32;  // of all allocations of a layer together
  const auto floats = [](int64_t n) { return static_cast<uint64_t>(n) * sizeof(float); };
  uint64_t largest = 0;
  for (const DecoderLayer& layer : layers_) {
    const uint64_t attention =
        floats(n_rows * attention_width(layer)) +
        linear_scratch_bytes(n_rows, attention_input(layer)) +
        attention_scratch_bytes(n_context, card_.kv.d_k + card_.kv.d_v, n_threads);
    const auto dense = [&](const FeedForward& block) {
      return floats(2 * n_rows * block.gate.rows) +
             linear_scratch_bytes(n_rows, std::max(block.gate.rows, card_.d_model));
    };
    const uint64_t feed_forward = std::visit(
        Match{dense,
              [&](const MoeBlock& block) {
                const RouterSpec& spec = block.experts.spec;
                const uint64_t shared =
                    block.shared ? dense(*block.shared) + floats(n_rows * (card_.d_model + 1)) : 0;
                const uint64_t work =
                    floats(n_rows * (spec.n_active * (card_.d_model + 2) + spec.n_experts)) +
                    floats(5 * spec.n_experts * n_threads) +
                    linear_scratch_bytes(n_rows, card_.d_model);
                return work + shared + experts_scratch_bytes(n_rows, spec, bank_->layout().shape());
              }},
        layer.feed_forward);
    largest = std::max({largest, attention, feed_forward});
  }
  return floats(3 * n_rows * card_.d_model) + largest +
         linear_scratch_bytes(n_rows, card_.d_model) + kAlign;
}

}  // namespace

std::unique_ptr<Model> make_decoder(DecoderParts parts) {
  return std::make_unique<Decoder>(std::move(parts));
}

}  // namespace ft
