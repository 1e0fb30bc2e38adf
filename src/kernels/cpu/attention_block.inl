// A tile of queries against one block of positions. A query is one head of one row; those of a tile
// share keys and values. Each query's softmax over the block gives a record of its own.

/// Rows of one sequence and heads of one key head.
struct QueryTile {
  int64_t row = 0;
  int64_t n_rows = 0;
  int64_t head = 0;
  int64_t n_heads = 0;
};

/// Positions that a row attends to, [begin, end), counted from anywhere.
struct Span {
  int64_t begin = 0;
  int64_t end = 0;
};

FT_INLINE Span overlap(const Span& a, const Span& b) {
  return {larger(a.begin, b.begin), smaller(a.end, b.end)};
}

FT_INLINE Span shifted(const Span& span, int64_t by) {
  return {span.begin + by, span.end + by};
}

FT_INLINE Span span_of_row(const AttentionArgs& args, int64_t r) {
  const int64_t end = args.rows.positions[r] + 1;
  return {args.window > 0 && end > args.window ? end - args.window : 0, end};
}

/// From the first to the last position that any of the rows attends to.
FT_INLINE Span span_of_rows(const AttentionArgs& args, int64_t first, int64_t n_rows) {
  Span all = span_of_row(args, first);
  for (int64_t r = first + 1; r < first + n_rows; ++r) {
    const Span span = span_of_row(args, r);
    all = {smaller(all.begin, span.begin), larger(all.end, span.end)};
  }
  return all;
}

FT_INLINE AttentionShape shape_of(const AttentionArgs& args) {
  return {args.n_heads, args.kv.n_kv_heads, args.kv.d_k, args.kv.d_v};
}

/// One thread's scratch for one tile. A record holds the sums of d_v, then the largest score and
/// the total of the weights.
struct Workspace {
  float* queries = nullptr;       // [n_queries, d_k], scaled
  float* scores = nullptr;        // [n_queries, kBlockPositions]
  float* block = nullptr;         // [n_queries, record]: of this block
  float* merged = nullptr;        // [n_queries, record]: of the blocks before
  float* page = nullptr;          // panels of one page as float32
  float* key_scales = nullptr;    // [kBlockPositions], of fp8
  float* value_scales = nullptr;  // [kBlockPositions]
  int64_t record = 0;
};

FT_INLINE Workspace workspace_at(float* memory, const AttentionShape& s, int64_t n_queries) {
  Workspace w;
  w.record = record_floats(s);
  w.block = memory;
  w.merged = w.block + n_queries * w.record;
  w.page = w.merged + n_queries * w.record;
  w.scores = w.page + page_floats(s);
  w.key_scales = w.scores + n_queries * kBlockPositions;
  w.value_scales = w.key_scales + kBlockPositions;
  w.queries = w.value_scales + kBlockPositions;
  return w;
}

/// A tile against one block.
struct BlockWork {
  const AttentionArgs& args;
  const QueryTile& tile;
  const Workspace& space;
  int64_t first = 0;        // position at which the block begins
  Span all = {};            // of all rows, within the block
  Span rows[kTileQueries];  // of each row, within the block; may be empty

  const KvLayer& kv() const { return args.kv; }
  int64_t n_queries() const { return tile.n_rows * tile.n_heads; }
  int64_t kv_head() const { return tile.head / (args.n_heads / args.kv.n_kv_heads); }
  uint8_t* page(int64_t at) const {  // that holds the position `at` of the block
    return page_of(args.kv, args.rows.page_tables[tile.row], first + at);
  }
};

/// The panels of one head in one page; `next` is where reading goes on after them.
struct PagePanels {
  const uint8_t* data = nullptr;
  const uint8_t* next = nullptr;
  int64_t panel_bytes = 0;
  int64_t n_panels = 0;

  FT_INLINE PanelPart part(int64_t index, const Span& steps) const {
    constexpr int64_t kAhead = 2;  // panels: some 4 KB
    const int64_t ahead = index + kAhead - n_panels;
    const uint8_t* from = ahead < 0 ? data + n_panels * panel_bytes : next;
    return {data + index * panel_bytes, from + ahead * panel_bytes, steps.begin, steps.end};
  }
};

FT_INLINE int64_t first_page_of(const BlockWork& work) {
  return work.all.begin / kPageTokens * kPageTokens;
}

FT_INLINE PagePanels key_panels(const BlockWork& work, int64_t at) {
  const KvLayer& kv = work.args.kv;
  const int64_t head = work.kv_head();
  PagePanels keys = {.data = keys_of(kv, work.page(at), head),
                     .panel_bytes = kPanelLanes * key_width(kv) * kv_element_bytes(kv.dtype),
                     .n_panels = kPageTokens / kPanelLanes};
  keys.next = at + kPageTokens < work.all.end ? keys_of(kv, work.page(at + kPageTokens), head)
                                              : values_of(kv, work.page(first_page_of(work)), head);
  return keys;
}

FT_INLINE PagePanels value_panels(const BlockWork& work, int64_t at) {
  const KvLayer& kv = work.args.kv;
  const int64_t head = work.kv_head();
  PagePanels values = {.data = values_of(kv, work.page(at), head),
                       .panel_bytes = kPanelLanes * kPageTokens * kv_element_bytes(kv.dtype),
                       .n_panels = value_width(kv) / kPanelLanes};
  values.next = at + kPageTokens < work.all.end ? values_of(kv, work.page(at + kPageTokens), head)
                                                : values.data;
  return values;
}

/// The same panels as float32 in the tile's scratch.
template <typename P>
FT_INLINE PagePanels expanded(const BlockWork& work, const PagePanels& panels) {
  expand_pairs<P>(panels.data, panels.n_panels * panels.panel_bytes / P::kPairBytes,
                  work.space.page);
  const auto* data = reinterpret_cast<const uint8_t*>(work.space.page);
  const int64_t bytes = panels.panel_bytes / P::kPairBytes * F32Panel::kPairBytes;
  return {data, data, bytes, panels.n_panels};
}

using Four __attribute__((vector_size(16))) = float;

/// to[j][i] = from[i][j] for four by four numbers, rows 16 floats apart.
FT_INLINE void turn_four(const float* from, float* to) {
  const Four a = load<Four>(from);
  const Four b = load<Four>(from + 16);
  const Four c = load<Four>(from + 32);
  const Four d = load<Four>(from + 48);
  const Four ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const Four ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Four cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const Four cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  const Four rows[4] = {__builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5),
                        __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7),
                        __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5),
                        __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7)};
  for (int j = 0; j < 4; ++j) __builtin_memcpy(to + 16 * j, rows + j, sizeof(Four));
}

/// Panels of values out of panels of keys: steps become lanes, sixteen by sixteen.
template <typename P>
FT_INLINE PagePanels turned(const BlockWork& work, const PagePanels& keys) {
  const KvLayer& kv = work.args.kv;
  const int64_t n_panels = value_width(kv) / kPanelLanes;
  float tile[kPanelLanes * kPanelLanes] = {};
  for (int64_t j = 0; j < n_panels; ++j) {
    const int64_t n_steps = smaller(kPanelLanes, key_width(kv) - kPanelLanes * j);
    for (int64_t k = 0; k < keys.n_panels; ++k) {
      expand_pairs<P>(keys.data + k * keys.panel_bytes + j * kPanelLanes / 2 * P::kPairBytes,
                      n_steps / 2, tile);
      float* to = work.space.page + (j * kPageTokens + k * kPanelLanes) * kPanelLanes;
      for (int64_t i = 0; i < kPanelLanes * kPanelLanes; i += 4) {
        const int64_t row = i / kPanelLanes;
        if (row % 4 == 0) turn_four(tile + i, to + i % kPanelLanes * kPanelLanes + row);
      }
    }
  }
  const auto* data = reinterpret_cast<const uint8_t*>(work.space.page);
  return {data, data, kPageTokens * kPanelLanes * 4, n_panels};
}

/// The scores of all queries for whole panels of 16 positions, without the scales of fp8.
template <typename Stored, typename Used>
void score(const BlockWork& work) {
  const Workspace& space = work.space;
  const KvLayer& kv = work.args.kv;
  for (int64_t at = first_page_of(work); at < work.all.end; at += kPageTokens) {
    PagePanels keys = key_panels(work, at);
    if constexpr (std::is_same_v<Stored, Fp8Panel>) {
      const uint8_t* scales = keys.data + panels_bytes(kv, key_width(kv));
      __builtin_memcpy(space.key_scales + at, scales, 4 * kPageTokens);
      if (!kv.values_in_keys)
        scales = value_panels(work, at).data + panels_bytes(kv, value_width(kv));
      __builtin_memcpy(space.value_scales + at, scales, 4 * kPageTokens);
    }
    if constexpr (!std::is_same_v<Stored, Used>) keys = expanded<Stored>(work, keys);
    for (int64_t p = 0; p < keys.n_panels; ++p) {
      const int64_t begin = at + p * kPanelLanes;
      if (begin >= work.all.end || begin + kPanelLanes <= work.all.begin) continue;
      multiply_panel<Used, false>(keys.part(p, {0, kv.d_k}),
                                  {space.queries, kv.d_k, space.scores + begin, kBlockPositions},
                                  work.n_queries());
    }
  }
}

/// A query's scores within the block become weights exp(score - largest); the record gets the
/// largest score and the total: partial sum t mod 32 for position t, folded as in a dot product.
template <bool kIsScaled>
void weigh(const Workspace& space, int64_t query, const Span& span) {
  constexpr float kLowest = -3.0e38f;
  float* scores = space.scores + query * kBlockPositions;
  const Span wide = {span.begin / kPanelLanes * kPanelLanes,
                     (span.end + kPanelLanes - 1) / kPanelLanes * kPanelLanes};
  if constexpr (kIsScaled) {
    for (int64_t t = wide.begin; t < wide.end; ++t) scores[t] *= space.key_scales[t];
  }
  for (int64_t t = wide.begin; t < span.begin; ++t) scores[t] = kLowest;
  for (int64_t t = span.end; t < wide.end; ++t) scores[t] = kLowest;
  Floats most = splat(kLowest);
  for (int64_t t = wide.begin; t < wide.end; t += kLanes) {
    most = greater(load_floats(scores + t), most);
  }
  float largest = kLowest;
  for (int l = 0; l < kLanes; ++l) largest = most[l] > largest ? most[l] : largest;
  for (int64_t t = wide.begin; t < wide.end; t += kLanes) {
    store_floats(scores + t, exp32(load_floats(scores + t) - splat(largest)));
  }
  for (int64_t t = wide.begin; t < span.begin; ++t) scores[t] = 0;
  for (int64_t t = span.end; t < wide.end; ++t) scores[t] = 0;
  float partial[kPartials] = {};
  for (int64_t t = wide.begin; t < wide.end; t += kLanes) {
    float* own = partial + t % kPartials;
    store_floats(own, load_floats(own) + load_floats(scores + t));
  }
  float* tail = space.block + (query + 1) * space.record - kRecordTail;
  tail[0] = largest;
  tail[1] = fold32(partial);
  if constexpr (kIsScaled) {
    for (int64_t t = wide.begin; t < wide.end; ++t) scores[t] *= space.value_scales[t];
  }
}

template <int kQ>
using RowCount = std::integral_constant<int, kQ>;

/// One panel of the values of the page at `at`.
struct ValuePanel {
  const PagePanels& values;
  int64_t at;
  int64_t index;
};

/// Adds weight times value to the sums of n queries. Each query takes exactly its own positions: a
/// value that it must not see may be no number.
template <typename P, int kQ = kRowsAtOnce>
void mix_panel(const BlockWork& work, const ValuePanel& panel, int64_t query, int64_t n) {
  const Workspace& space = work.space;
  const int64_t n_heads = work.tile.n_heads;
  const auto steps_of = [&](int64_t row) {
    return overlap({0, kPageTokens}, shifted(work.rows[row], -panel.at));
  };
  const auto multiply = [&](auto rows, int64_t first, const Span& steps) {
    if (steps.begin >= steps.end) return;
    multiply_queries<P, decltype(rows)::value, true>(
        panel.values.part(panel.index, steps),
        {space.scores + first * kBlockPositions + panel.at, kBlockPositions,
         space.block + first * space.record + panel.index * kPanelLanes, space.record});
  };
  for (; n >= kQ; n -= kQ, query += kQ) {
    const int64_t first_row = work.tile.n_rows == 1 ? 0 : query / n_heads;
    const int64_t last_row = work.tile.n_rows == 1 ? 0 : (query + kQ - 1) / n_heads;
    Span shared = steps_of(first_row);
    for (int64_t row = first_row + 1; row <= last_row; ++row) {
      shared = overlap(shared, steps_of(row));
    }
    if (shared.begin >= shared.end) shared = {kPageTokens, kPageTokens};  // each by itself
    const bool is_ragged = first_row != last_row;
    for (int64_t q = query; is_ragged && q < query + kQ; ++q) {
      const Span own = steps_of(q / n_heads);
      multiply(RowCount<1>{}, q, {own.begin, smaller(own.end, shared.begin)});
    }
    multiply(RowCount<kQ>{}, query, shared);
    for (int64_t q = query; is_ragged && q < query + kQ; ++q) {
      multiply(RowCount<1>{}, q, {shared.end, steps_of(q / n_heads).end});
    }
  }
  if constexpr (kQ > 1) mix_panel<P, kQ / 2>(work, panel, query, n);
}

template <typename Stored, typename Used>
void mix(const BlockWork& work) {
  const KvLayer& kv = work.args.kv;
  for (int64_t at = first_page_of(work); at < work.all.end; at += kPageTokens) {
    PagePanels values = kv.values_in_keys ? key_panels(work, at) : value_panels(work, at);
    if (kv.values_in_keys) {
      values = turned<Stored>(work, values);
    } else if constexpr (!std::is_same_v<Stored, Used>) {
      values = expanded<Stored>(work, values);
    }
    for (int64_t j = 0; j < values.n_panels; ++j) {
      mix_panel<Used>(work, {values, at, j}, 0, work.n_queries());
    }
  }
}

/// The records of all queries of a tile for one block. Stored: the type in the pages; Used: the
/// one that is multiplied, float32 in scratch where many queries share the conversion.
template <typename Stored, typename Used>
void attend_block(const BlockWork& work) {
  const Workspace& space = work.space;
  score<Stored, Used>(work);
  for (int64_t q = 0; q < work.n_queries(); ++q) {
    const Span& span = work.rows[q / work.tile.n_heads];
    if (span.begin >= span.end) continue;
    weigh<std::is_same_v<Stored, Fp8Panel>>(space, q, span);
    __builtin_memset(space.block + q * space.record, 0,
                     static_cast<size_t>(space.record - kRecordTail) * sizeof(float));
  }
  mix<Stored, Used>(work);
}

using BlockFunction = void (*)(const BlockWork&);

template <typename P>
FT_INLINE BlockFunction block_function(bool is_expanded) {
  return is_expanded ? attend_block<P, F32Panel> : attend_block<P, P>;
}

/// bf16 is converted on the way, at no cost that shows. fp8 takes longer, so that more queries than
/// are multiplied at once share a conversion; values that lie within keys must be turned anyway.
FT_INLINE BlockFunction block_function_for(const KvLayer& kv, int64_t n_queries) {
  if (kv.dtype == KvDType::kF32) return attend_block<F32Panel, F32Panel>;
  if (kv.dtype == KvDType::kBF16) return block_function<Bf16Panel>(kv.values_in_keys);
  return block_function<Fp8Panel>(kv.values_in_keys || n_queries > kRowsAtOnce);
}
