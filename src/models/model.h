// What the engine knows of a model: its sizes, and one call that turns a batch into logits.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "experts/expert_bank.h"
#include "files/weights.h"
#include "models/dense_bank.h"
#include "nn/step.h"

namespace ft {

struct ModelCard {
  std::string architecture;
  std::string attention;  // one line, for people
  int64_t n_vocab = 0;
  int64_t d_model = 0;
  int64_t n_layers = 0;
  int64_t n_moe_layers = 0;
  int64_t n_shared_experts = 0;
  int64_t n_context = 0;  // longest sequence that the model declares
  RouterSpec router;      // of the layers with experts
  KvShape kv;             // its type is the caller's choice
  uint64_t n_params = 0;
  uint64_t n_active_params = 0;  // that one token uses
  uint64_t dense_bytes = 0;      // all but routed experts, as the file has them
  uint64_t idle_bytes = 0;       // of these, what no step reads: copies in q8 stand for it
  // That one decode step reads: dense weights without the embedding, active experts
  uint64_t step_bytes = 0;
};

class Model {
 public:
  virtual ~Model() = default;

  const ModelCard& card() const { return card_; }
  const Weights& weights() const { return *weights_; }
  ExpertBank& bank() { return *bank_; }
  const ExpertBank& bank() const { return *bank_; }
  DenseBank& dense_bank() { return dense_bank_; }
  const DenseBank& dense_bank() const { return dense_bank_; }

  /// Has all dense matrices of plain numbers that steps multiply with turned into q8, except routers
  /// and what latent attention applies transposed. The card counts the copies; dense_bank().fill()
  /// must write them before the first step.
  virtual void plan_q8() = 0;

  /// Sizes what depends on the longest sequence that will be run.
  virtual void prepare(int64_t n_context) = 0;

  /// Bytes of what prepare() makes.
  virtual uint64_t table_bytes(int64_t n_context) const = 0;

  /// Bytes of keys and values in `kv` that a step reads for one row with n_positions before and
  /// including its own: each layer's once, however many heads share them.
  virtual uint64_t kv_step_bytes(const KvShape& kv, int64_t n_positions) const = 0;

  /// Bytes of scratch that forward() takes at most.
  virtual uint64_t scratch_bytes(const StepLimits& limits) const = 0;

  /// logits: [batch.n_logit_rows, n_vocab]
  virtual void forward(const Step& step, const TensorView& logits) = 0;

 protected:
  ModelCard card_;
  std::unique_ptr<Weights> weights_;
  std::unique_ptr<ExpertBank> bank_;
  DenseBank dense_bank_;
};

}  // namespace ft
