#include "engine/runner.h"

#include "base/check.h"

namespace ft {

Runner::Runner(Model& model, const Placement& placement, const Lane& lane)
    : model_(model),
      placement_(placement),
      arena_(placement.scratch_bytes),
      lane_(lane),
      may_round_(lane.may_round),
      kv_(placement.kv, placement.n_pages),
      logits_(placement.logits_bytes / sizeof(float)),
      positions_(static_cast<size_t>(placement.n_prefill_rows)),
      tables_(static_cast<size_t>(placement.n_prefill_rows)),
      logit_rows_(static_cast<size_t>(placement.n_prefill_rows)) {
  lane_.arena = &arena_;
  model.prepare(placement.n_context);
}

std::span<const float> Runner::step(std::span<const int32_t> tokens, int64_t first,
                                    const PageTable& pages, LogitRows wanted, Phase phase) {
  const auto n_rows = static_cast<int64_t>(tokens.size());
  FT_CHECK(n_rows > 0 && n_rows <= placement_.n_prefill_rows,
           "a step has 1 to n_prefill_rows rows");
  for (size_t i = 0; i < tokens.size(); ++i) {
    positions_[i] = static_cast<int32_t>(first) + static_cast<int32_t>(i);
    tables_[i] = pages.pages();
    logit_rows_[i] = static_cast<int32_t>(i);
  }
  const int64_t n_logits = wanted == LogitRows::kAll ? n_rows : wanted == LogitRows::kLast ? 1 : 0;
  FT_CHECK(n_logits <= placement_.n_logit_rows, "a step gives n_logit_rows rows of logits at most");
  const int64_t n_vocab = model_.card().n_vocab;
  if (wanted == LogitRows::kLast) logit_rows_[0] = static_cast<int32_t>(n_rows - 1);
  const Batch batch = {.tokens = tokens.data(),
                       .rows = {.n_rows = n_rows,
                                .positions = positions_.data(),
                                .page_tables = tables_.data(),
                                .n_positions_max = first + n_rows},
                       .logit_rows = logit_rows_.data(),
                       .n_logit_rows = n_logits};
  const TensorView logits = {
      .data = logits_.data(), .rows = n_logits, .cols = n_vocab, .stride = n_vocab};
  lane_.may_round = may_round_ && phase == Phase::kPrefill;
  model_.forward({.lane = lane_, .batch = batch, .kv = kv_}, logits);
  return {logits_.data(), static_cast<size_t>(n_logits * n_vocab)};
}

}  // namespace ft
