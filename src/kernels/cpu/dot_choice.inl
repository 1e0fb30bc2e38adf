// Which dot an operation takes.

/// Rows of activations that matrix tiles take together; 1: there are none.
#if defined(__AMX_TILE__)
constexpr int64_t kTileGroup = kTileRows;
#else
constexpr int64_t kTileGroup = 1;
#endif

/// Calls fn with the dot for a format's weights when a row of them meets about n_rows of activations,
/// which may be rounded or not.
template <typename F, bool kExact, typename Fn>
FT_INLINE void visit_dot([[maybe_unused]] const Lane& lane, [[maybe_unused]] bool may_round,
                         [[maybe_unused]] int64_t n_rows, Fn fn) {
#if defined(__AMX_TILE__)
  if constexpr (!kExact && std::is_same_v<F, Bf16>) {
    if (may_round) return fn(AmxBf16Dot());
  }
  if constexpr (!kExact && kHasAmxDot<F>) {
    if (n_rows > 1 && n_rows >= lane.crossovers.at(kIdOf<F>).tiles) return fn(AmxInt8Dot<F>());
  }
#elif defined(__AVX512BF16__)
  if constexpr (!kExact && std::is_same_v<F, Bf16>) {
    if (may_round) return fn(RoundedDot());
  }
#endif
  fn(Dot<F, kExact>());
}
