// What a load needs, part by part, decided before anything is allocated: a pure function of the
// model's card and the limits.
#pragma once

#include <cstdint>
#include <string>

#include "models/model.h"

namespace ft {

struct PlacementLimits {
  int64_t n_context = 0;  // asked for; 0: the model's, at most kDefaultContext
  int64_t n_prefill_rows = 0;
  int n_threads = 1;
  int64_t n_group_rows = 1;  // of the table of operations
  KvDType kv_dtype = KvDType::kBF16;
  bool is_dense_mapped = true;  // false: made up, in memory of their own
};

constexpr int64_t kDefaultContext = 8192;

/// Bytes of host memory. Dense weights of a file stay mapped: they need room in the page cache, not
/// of their own.
struct Placement {
  int64_t n_context = 0;
  int64_t n_prefill_rows = 0;
  int64_t n_logit_rows = 0;  // of one step, at most
  int64_t n_pages = 0;
  KvShape kv;
  uint64_t bank_bytes = 0;   // expert records
  uint64_t dense_bytes = 0;  // in the file's formats: of mapped ones what steps read
  uint64_t q8_bytes = 0;     // copies of dense matrices in q8
  bool is_dense_mapped = true;
  uint64_t kv_bytes = 0;       // pages
  uint64_t scratch_bytes = 0;  // the arena of a step
  uint64_t table_bytes = 0;    // angles of rotary positions
  uint64_t logits_bytes = 0;
  uint64_t copied_bytes = 0;  // of small dense weights, in the form that kernels read

  uint64_t allocated_bytes() const {
    return bank_bytes + q8_bytes + kv_bytes + scratch_bytes + table_bytes + logits_bytes +
           copied_bytes + (is_dense_mapped ? 0 : dense_bytes);
  }
  uint64_t total_bytes() const { return allocated_bytes() + (is_dense_mapped ? dense_bytes : 0); }
};

/// Errors: kBadInput for a context longer than the model's, or numbers that are not positive;
/// kOutOfMemory where a size cannot even be written down.
Placement plan_placement(const Model& model, const PlacementLimits& limits);

/// "8.65 MB for experts, 3.15 MB for the KV cache of 2,048 tokens, ...: 11.9 MB to allocate; ..."
std::string describe(const Placement& placement);

/// Errors: kOutOfMemory with the parts, the sum and what is available.
void check_fits(const Placement& placement, uint64_t available_bytes);

}  // namespace ft
