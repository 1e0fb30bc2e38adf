// The routed experts that the host computes. Rows are grouped by expert, so that a row of weights
// is decoded once for all rows that need it; each route's result is kept apart.

/// Routes grouped by expert. Those of expert e begin at routes[offsets[e]], where its next places
/// begin at a multiple of the rows that a dot takes together; `active` lists experts that have any.
struct Grouping {
  int32_t* offsets = nullptr;  // [n_experts + 1]
  int32_t* counts = nullptr;   // [n_experts]
  int32_t* routes = nullptr;   // [n_places]: row * n_active + i
  int32_t* rows = nullptr;     // [n_places]: row; places without a route repeat one
  int32_t* active = nullptr;   // [n_active_experts]
  int64_t n_active_experts = 0;
  int64_t n_places = 0;
};

template <int kTogether>
FT_INLINE Grouping group_routes(Lane& lane, const ExpertsArgs& args) {
  const int64_t n_all = args.x.rows * args.n_active;
  const int64_t n_most = n_all < args.n_experts ? n_all : args.n_experts;
  Grouping g;
  g.offsets = lane.arena->alloc<int32_t>(args.n_experts + 1);
  g.counts = lane.arena->alloc<int32_t>(args.n_experts);
  g.routes = lane.arena->alloc<int32_t>(n_all + n_most * (kTogether - 1));
  g.rows = lane.arena->alloc<int32_t>(n_all + n_most * (kTogether - 1));
  g.active = lane.arena->alloc<int32_t>(args.n_experts);
  for (int64_t e = 0; e < args.n_experts; ++e) g.counts[e] = 0;
  for (int64_t i = 0; i < n_all; ++i) {
    if (args.ids[i] >= 0) ++g.counts[args.ids[i]];
  }
  g.offsets[0] = 0;
  for (int64_t e = 0; e < args.n_experts; ++e) {
    if (g.counts[e] > 0) g.active[g.n_active_experts++] = static_cast<int32_t>(e);
    g.offsets[e + 1] = g.offsets[e] + (g.counts[e] + kTogether - 1) / kTogether * kTogether;
    g.counts[e] = 0;
  }
  for (int64_t i = 0; i < n_all; ++i) {
    const int32_t e = args.ids[i];
    if (e < 0) continue;
    const int32_t at = g.offsets[e] + g.counts[e]++;
    g.routes[at] = static_cast<int32_t>(i);
    g.rows[at] = static_cast<int32_t>(i / args.n_active);
  }
  for (int64_t a = 0; a < g.n_active_experts; ++a) {
    const int32_t e = g.active[a];
    for (int32_t at = g.offsets[e] + g.counts[e]; at < g.offsets[e + 1]; ++at)
      g.rows[at] = g.rows[g.offsets[e]];
  }
  g.n_places = g.offsets[args.n_experts];
  return g;
}

/// What the pieces of work share.
struct ExpertStep {
  const ExpertsArgs& args;
  const Grouping& routes;
  int fewest_decoded = 1;
  TensorView hidden = {};  // [n_places, d_expert]
  TensorView up = {};      // the same, before it is multiplied with the gate

  FT_INLINE const uint8_t* record(int32_t expert) const {
    return args.records + static_cast<uint64_t>(expert) * args.layout->record_bytes();
  }
};

/// hidden[at, n] = activation(gate row n, up row n) for rows [n.begin, n.end) and all places of one
/// expert.
template <typename D>
FT_INLINE void gate_up_rows(const ExpertStep& step, const Packed& x, int32_t expert,
                            const WeightRows& n, uint8_t* scratch) {
  const Grouping& g = step.routes;
  const ExpertLayout& layout = *step.args.layout;
  const uint8_t* record = step.record(expert);
  const int32_t first = g.offsets[expert];
  const int64_t n_rows = g.offsets[expert + 1] - first;
  for (const ExpertMatrix matrix : {ExpertMatrix::kGate, ExpertMatrix::kUp}) {
    const TensorView& y = matrix == ExpertMatrix::kGate ? step.hidden : step.up;
    const Product product = {.w = layout.matrix(record, matrix),
                             .x = kIsGrouped<D> ? x.from(first) : x,
                             .n_rows = n_rows,
                             .x_rows = kIsGrouped<D> ? nullptr : g.rows + first,
                             .y = y.slice(first, n_rows),
                             .bias = layout.bias(record, matrix),
                             .fewest_decoded = step.fewest_decoded};
    multiply_rows<D>(product, n, scratch);
  }
  for (int64_t m = first; m < first + n_rows; ++m) {
    gate_values(step.args.gate, step.hidden.row(m) + n.begin, step.up.row(m) + n.begin,
                n.end - n.begin);
  }
}

/// hidden: packed.
template <typename D>
FT_INLINE void down_rows(const ExpertStep& step, const Packed& hidden, int32_t expert,
                         const WeightRows& n, uint8_t* scratch) {
  const Grouping& g = step.routes;
  const ExpertLayout& layout = *step.args.layout;
  const uint8_t* record = step.record(expert);
  const int32_t first = g.offsets[expert];
  const Product product = {.w = layout.matrix(record, ExpertMatrix::kDown),
                           .x = hidden.from(first),
                           .n_rows = g.counts[expert],
                           .y = step.args.results,
                           .y_rows = g.routes + first,
                           .bias = layout.bias(record, ExpertMatrix::kDown),
                           .fewest_decoded = step.fewest_decoded};
  multiply_rows<D>(product, n, scratch);
}

/// Calls piece(expert, rows, member) for the rows [0, n_rows) of each active expert's matrix.
template <typename D, typename Piece>
FT_INLINE void for_rows_of_experts(Lane& lane, const Grouping& g, int64_t n_rows, int64_t row_bytes,
                                   Piece piece) {
  const int64_t grain = grain_of<D>(*lane.team, g.n_active_experts * n_rows, row_bytes);
  const int64_t n_pieces = (n_rows + grain - 1) / grain;  // of one expert
  lane.team->run(g.n_active_experts * n_pieces, 1, [&](int64_t begin, int64_t end, int member) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % n_pieces * grain;
      const WeightRows rows = {first, n_rows - first < grain ? n_rows : first + grain};
      piece(g.active[i / n_pieces], rows, member);
    }
  });
}

template <typename D>
FT_INLINE void experts_with(Lane& lane, const ExpertsArgs& args) {
  const Arena::Scope scope(*lane.arena);
  const Grouping g = group_routes<kGroupRows<D>>(lane, args);
  if (g.n_places == 0) return;
  const ExpertShape& shape = args.layout->shape();
  const ExpertStep step = {.args = args,
                           .routes = g,
                           .fewest_decoded = lane.crossovers.at(shape.format).decoded,
                           .hidden = scratch(lane, g.n_places, shape.d_expert),
                           .up = scratch(lane, g.n_places, shape.d_expert)};
  const int64_t gate_up_bytes = D::decoded_bytes(shape.d_model);
  const int64_t down_bytes = D::decoded_bytes(shape.d_expert);
  const int64_t larger = gate_up_bytes > down_bytes ? gate_up_bytes : down_bytes;
  const int64_t decoded_bytes = may_decode<D>(args.x.rows) ? larger : 0;
  uint8_t* decoded = lane.arena->alloc<uint8_t>(decoded_bytes * lane.team->n_threads());
  Packed x = pack_rows<D>(lane, args.x, shape.d_model, 1, 0);
  if constexpr (kIsGrouped<D>) x = group_rows<D>(lane, x, shape.d_model, g.n_places, g.rows);
  for_rows_of_experts<D>(lane, g, shape.d_expert, row_bytes_of(shape.format, shape.d_model),
                         [&](int32_t expert, const WeightRows& rows, int member) {
                           gate_up_rows<D>(step, x, expert, rows, decoded + member * decoded_bytes);
                         });
  Packed h = pack_rows<D>(lane, step.hidden, shape.d_expert, 1, 0);
  if constexpr (kIsGrouped<D>) h = group_rows<D>(lane, h, shape.d_expert, g.n_places);
  for_rows_of_experts<D>(lane, g, shape.d_model, row_bytes_of(shape.format, shape.d_expert),
                         [&](int32_t expert, const WeightRows& rows, int member) {
                           down_rows<D>(step, h, expert, rows, decoded + member * decoded_bytes);
                         });
}

template <bool kExact>
void experts(Lane& lane, const ExpertsArgs& args) {
  const int64_t n_routes = args.x.rows * args.n_active;
  visit_format(args.layout->shape().format, [&](auto format) {
    visit_dot<decltype(format), kExact>(lane, lane.may_round, n_routes / args.n_experts,
                                        [&](auto dot) { experts_with<decltype(dot)>(lane, args); });
  });
}

void combine(Lane& lane, const CombineArgs& args) {
  lane.team->run(args.y.rows, 4, [&](int64_t begin, int64_t end, int) {
    for (int64_t r = begin; r < end; ++r) {
      float* y = args.y.row(r);
      for (int64_t i = 0; i < args.n_active; ++i) {
        const float weight = args.weights[r * args.n_active + i];
        const float* result = args.results.row(r * args.n_active + i);
        for (int64_t c = 0; c < args.y.cols; ++c) y[c] = fma32(weight, result[c], y[c]);
      }
    }
  });
}
