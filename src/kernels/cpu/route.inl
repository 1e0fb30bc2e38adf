// The router's choice: plain code, a row at a time. Ties go to the lower id.

/// Sets chosen[0 .. k) to the positions of the k largest of n values, best first. A chosen value is
/// marked by `taken`.
FT_INLINE void choose_best(const float* values, int64_t n, int64_t k, int32_t* chosen,
                           uint8_t* taken) {
  for (int64_t i = 0; i < n; ++i) taken[i] = 0;
  for (int64_t c = 0; c < k; ++c) {
    int64_t best = -1;
    for (int64_t i = 0; i < n; ++i) {
      if (taken[i] == 0 && (best < 0 || values[i] > values[best])) best = i;
    }
    taken[best] = 1;
    chosen[c] = static_cast<int32_t>(best);
  }
}

/// In place: exp(x - max) / sum.
FT_INLINE void softmax(float* x, int64_t n) {
  float largest = x[0];
  for (int64_t i = 1; i < n; ++i) largest = x[i] > largest ? x[i] : largest;
  float partial[kPartials] = {};
  for (int64_t i = 0; i < n; ++i) {
    x[i] = exp32(x[i] - largest);
    partial[i % kPartials] += x[i];
  }
  const float sum = fold32(partial);
  for (int64_t i = 0; i < n; ++i) x[i] /= sum;
}

struct RouteScratch {
  float* scores = nullptr;    // [n_experts]
  float* choice = nullptr;    // [n_experts]: what the choice is made by
  float* groups = nullptr;    // [n_experts]
  int32_t* chosen = nullptr;  // [n_experts]
  uint8_t* taken = nullptr;   // [n_experts]
};

/// Experts outside the best groups (by the sum of their two best values) get -inf.
FT_INLINE void keep_best_groups(const RouterSpec& spec, const RouteScratch& s) {
  const int64_t size = spec.n_experts / spec.n_groups;
  for (int64_t g = 0; g < spec.n_groups; ++g) {
    float first = -__builtin_inff();
    float second = -__builtin_inff();
    for (int64_t i = g * size; i < (g + 1) * size; ++i) {
      const float value = s.choice[i];
      if (value > first) {
        second = first;
        first = value;
      } else if (value > second) {
        second = value;
      }
    }
    s.groups[g] = size > 1 ? first + second : first;
  }
  choose_best(s.groups, spec.n_groups, spec.n_active_groups, s.chosen, s.taken);
  for (int64_t i = 0; i < spec.n_experts; ++i) {
    if (s.taken[i / size] == 0) s.choice[i] = -__builtin_inff();
  }
}

FT_INLINE void route_row(const RouteArgs& args, int64_t r, const RouteScratch& s) {
  const RouterSpec& spec = args.spec;
  const float* logits = args.logits.row(r);
  for (int64_t e = 0; e < spec.n_experts; ++e) {
    s.scores[e] = spec.scoring == Scoring::kSigmoid ? sigmoid32(logits[e]) : logits[e];
  }
  if (spec.scoring == Scoring::kSoftmax) softmax(s.scores, spec.n_experts);
  for (int64_t e = 0; e < spec.n_experts; ++e) {
    s.choice[e] = args.bias == nullptr ? s.scores[e] : s.scores[e] + args.bias[e];
  }
  if (spec.n_active_groups < spec.n_groups) keep_best_groups(spec, s);
  int32_t* ids = args.ids + r * spec.n_active;
  float* weights = args.weights + r * spec.n_active;
  choose_best(s.choice, spec.n_experts, spec.n_active, ids, s.taken);
  for (int64_t i = 0; i < spec.n_active; ++i) weights[i] = s.scores[ids[i]];
  if (spec.scoring == Scoring::kSoftmaxOfChosen) softmax(weights, spec.n_active);
  if (spec.renormalise) {
    float sum = spec.renormalise_eps;
    for (int64_t i = 0; i < spec.n_active; ++i) sum += weights[i];
    for (int64_t i = 0; i < spec.n_active; ++i) weights[i] /= sum;
  }
  for (int64_t i = 0; i < spec.n_active; ++i) weights[i] *= spec.scale;
}

void route(Lane& lane, const RouteArgs& args) {
  const Arena::Scope scope(*lane.arena);
  const int64_t n = args.spec.n_experts;
  const int n_threads = lane.team->n_threads();
  float* floats = lane.arena->alloc<float>(3 * n * n_threads);
  int32_t* ints = lane.arena->alloc<int32_t>(n * n_threads);
  uint8_t* bytes = lane.arena->alloc<uint8_t>(n * n_threads);
  lane.team->run(args.logits.rows, 1, [&](int64_t begin, int64_t end, int member) {
    float* mine = floats + 3 * n * member;
    const RouteScratch scratch = {mine, mine + n, mine + 2 * n, ints + n * member,
                                  bytes + n * member};
    for (int64_t r = begin; r < end; ++r) route_row(args, r, scratch);
  });
}
