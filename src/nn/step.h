// What the blocks of a model are given in one step.
#pragma once

#include <cstdint>

#include "kernels/lane.h"
#include "kernels/ops.h"
#include "nn/kv_cache.h"

namespace ft {

/// The rows of one step: a token each, at a position of its sequence.
struct Batch {
  const int32_t* tokens = nullptr;  // [rows.n_rows]
  RowPositions rows;
  const int32_t* logit_rows = nullptr;  // [n_logit_rows]: those whose logits are wanted, ascending
  int64_t n_logit_rows = 0;
};

struct Step {
  Lane& lane;
  const Batch& batch;
  KvCache& kv;
};

}  // namespace ft
