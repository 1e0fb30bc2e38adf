// How attention cuts its work, and what each piece takes of the arena. Only kBlockPositions takes
// part in the results.
#pragma once

#include "kernels/ops.h"

namespace ft {

/// Positions of a block, at absolute multiples: a row's softmax is computed for each block by
/// itself, and the blocks are merged in ascending order.
constexpr int64_t kBlockPositions = 256;
constexpr int64_t kTileQueries = 64;  // one row's head is a query; a tile shares keys and values
constexpr int64_t kRecordTail = 16;   // floats of a record behind its sums: largest score, total
constexpr int64_t kMostSplitBytes = 8 << 20;  // of records, unless those of one row are more
constexpr int64_t kPiecesPerThread = 4;       // fewer leave threads idle at the end

FT_INLINE int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

FT_INLINE int64_t larger(int64_t a, int64_t b) {
  return a > b ? a : b;
}

FT_INLINE int64_t heads_of_tile(const AttentionShape& s) {
  return smaller(s.n_heads / s.n_kv_heads, kTileQueries);
}

FT_INLINE int64_t rows_of_tile(const AttentionShape& s) {
  return larger(kTileQueries / (s.n_heads / s.n_kv_heads), 1);
}

FT_INLINE int64_t record_floats(const AttentionShape& s) {
  return (s.d_v + kPanelLanes - 1) / kPanelLanes * kPanelLanes + kRecordTail;
}

FT_INLINE int64_t n_blocks_of(int64_t n_positions) {
  return (n_positions + kBlockPositions - 1) / kBlockPositions;
}

FT_INLINE int64_t page_floats(const AttentionShape& s) {
  return kPageTokens * larger((s.d_k + 1) / 2 * 2, record_floats(s));
}

/// Queries, scores and records of a tile, one page of keys or values as float32, scales of a block.
FT_INLINE int64_t workspace_floats(const AttentionShape& s, int64_t n_rows) {
  const int64_t n_queries = smaller(n_rows, rows_of_tile(s)) * heads_of_tile(s);
  const int64_t floats = n_queries * (s.d_k + kBlockPositions + 2 * record_floats(s)) +
                         page_floats(s) + 2 * kBlockPositions;
  return (floats + kPanelLanes - 1) / kPanelLanes * kPanelLanes;
}

/// Floats of the records of one row where positions are split.
FT_INLINE int64_t split_row_floats(const AttentionShape& s, int64_t n_blocks) {
  return s.n_heads * n_blocks * record_floats(s);
}

}  // namespace ft
