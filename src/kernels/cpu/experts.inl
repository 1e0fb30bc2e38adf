// The routed experts that the host computes. Rows are grouped by expert, so that a row of weights
// is decoded once for all rows that need it; each route's result is kept apart.

/// Routes grouped by expert: those of expert e are routes[offsets[e] .. offsets[e + 1]); `active`
/// lists experts that have any.
struct Grouping {
  int32_t* offsets = nullptr;  // [n_experts + 1]
  int32_t* routes = nullptr;   // [n_routes here]: row * n_active + i
  int32_t* rows = nullptr;     // [n_routes here]: row
  int32_t* active = nullptr;   // [n_active_experts]
  int64_t n_active_experts = 0;
  int64_t n_routes = 0;
};

FT_INLINE Grouping group_routes(Lane& lane, const ExpertsArgs& args) {
  const int64_t n_all = args.x.rows * args.n_active;
  Grouping g;
  g.offsets = lane.arena->alloc<int32_t>(args.n_experts + 1);
  g.routes = lane.arena->alloc<int32_t>(n_all);
  g.rows = lane.arena->alloc<int32_t>(n_all);
  g.active = lane.arena->alloc<int32_t>(args.n_experts);
  int32_t* next = lane.arena->alloc<int32_t>(args.n_experts);
  for (int64_t e = 0; e <= args.n_experts; ++e) g.offsets[e] = 0;
  for (int64_t i = 0; i < n_all; ++i) {
    if (args.ids[i] >= 0) ++g.offsets[args.ids[i] + 1];
  }
  for (int64_t e = 0; e < args.n_experts; ++e) {
    if (g.offsets[e + 1] > 0) g.active[g.n_active_experts++] = static_cast<int32_t>(e);
    g.offsets[e + 1] += g.offsets[e];
    next[e] = g.offsets[e];
  }
  for (int64_t i = 0; i < n_all; ++i) {
    if (args.ids[i] < 0) continue;
    const int32_t at = next[args.ids[i]]++;
    g.routes[at] = static_cast<int32_t>(i);
    g.rows[at] = static_cast<int32_t>(i / args.n_active);
  }
  g.n_routes = g.offsets[args.n_experts];
  return g;
}

/// hidden[at, n] = activation(gate row n, up row n) for all routes of one expert.
template <typename F, bool kExact>
FT_INLINE void gate_up_row(const ExpertsArgs& args, const Grouping& g, const Packed& x,
                           int32_t expert, int64_t n, const TensorView& hidden) {
  const ExpertLayout& layout = *args.layout;
  const uint8_t* record = args.records + static_cast<uint64_t>(expert) * layout.record_bytes();
  const WeightView gate = layout.matrix(record, ExpertMatrix::kGate);
  const WeightView up = layout.matrix(record, ExpertMatrix::kUp);
  const float* gate_bias = layout.bias(record, ExpertMatrix::kGate);
  const float* up_bias = layout.bias(record, ExpertMatrix::kUp);
  const int32_t end = g.offsets[expert + 1];
  float gates[kRowTile];
  float ups[kRowTile];
  for (int32_t at = g.offsets[expert]; at < end; at += kRowTile) {
    const int count = end - at < kRowTile ? end - at : kRowTile;
    dot_rows<F, kExact>(gate, n, x, {g.rows + at, count}, gates);
    dot_rows<F, kExact>(up, n, x, {g.rows + at, count}, ups);
    for (int i = 0; i < count; ++i) {
      const float a = gate_bias == nullptr ? gates[i] : gates[i] + gate_bias[n];
      const float b = up_bias == nullptr ? ups[i] : ups[i] + up_bias[n];
      hidden.row(at + i)[n] = gate32(args.gate, a, b);
    }
  }
}

template <typename F, bool kExact>
FT_INLINE void down_row(const ExpertsArgs& args, const Grouping& g, const Packed& hidden,
                        int32_t expert, int64_t n) {
  const ExpertLayout& layout = *args.layout;
  const uint8_t* record = args.records + static_cast<uint64_t>(expert) * layout.record_bytes();
  const WeightView down = layout.matrix(record, ExpertMatrix::kDown);
  const float* bias = layout.bias(record, ExpertMatrix::kDown);
  const int32_t end = g.offsets[expert + 1];
  float sums[kRowTile];
  for (int32_t at = g.offsets[expert]; at < end; at += kRowTile) {
    const int count = end - at < kRowTile ? end - at : kRowTile;
    dot_rows<F, kExact>(down, n, packed_from(hidden, at), {.count = count}, sums);
    for (int i = 0; i < count; ++i) {
      args.results.row(g.routes[at + i])[n] = bias == nullptr ? sums[i] : sums[i] + bias[n];
    }
  }
}

template <bool kExact>
void experts(Lane& lane, const ExpertsArgs& args) {
  constexpr int64_t kGrain = 16;  // rows of weights in a piece of work
  const Arena::Scope scope(*lane.arena);
  const Grouping g = group_routes(lane, args);
  if (g.n_routes == 0) return;
  const ExpertShape& shape = args.layout->shape();
  TensorView hidden = {.data = lane.arena->alloc<float>(g.n_routes * shape.d_expert),
                       .rows = g.n_routes,
                       .cols = shape.d_expert,
                       .stride = shape.d_expert};
  visit_format(shape.format, [&](auto format) {
    using F = decltype(format);
    const Packed x = pack_rows<F, kExact>(lane, args.x, shape.d_model, 1, 0);
    lane.team->run(g.n_active_experts * shape.d_expert, kGrain,
                   [&](int64_t begin, int64_t end, int) {
                     for (int64_t i = begin; i < end; ++i) {
                       gate_up_row<F, kExact>(args, g, x, g.active[i / shape.d_expert],
                                              i % shape.d_expert, hidden);
                     }
                   });
    const Packed h = pack_rows<F, kExact>(lane, hidden, shape.d_expert, 1, 0);
    lane.team->run(
        g.n_active_experts * shape.d_model, kGrain, [&](int64_t begin, int64_t end, int) {
          for (int64_t i = begin; i < end; ++i) {
            down_row<F, kExact>(args, g, h, g.active[i / shape.d_model], i % shape.d_model);
          }
        });
  });
}

void combine(Lane& lane, const CombineArgs& args) {
  lane.team->run(args.y.rows, 1, [&](int64_t begin, int64_t end, int) {
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
