// Which dot an operation takes.

/// Calls fn with the dot for a format's weights when a row of them meets about n_rows of activations.
template <typename F, bool kExact, typename Fn>
FT_INLINE void visit_dot([[maybe_unused]] const Lane& lane, [[maybe_unused]] int64_t n_rows,
                         Fn fn) {
#if defined(__AMX_TILE__)
  if constexpr (!kExact && std::is_same_v<F, Bf16>) {
    if (lane.may_round) return fn(AmxBf16Dot());
  }
  if constexpr (!kExact && kHasAmxDot<F>) {
    if (n_rows >= lane.crossovers.at(kIdOf<F>).tiles) return fn(AmxInt8Dot<F>());
  }
#elif defined(__AVX512BF16__)
  if constexpr (!kExact && std::is_same_v<F, Bf16>) {
    if (lane.may_round) return fn(RoundedDot());
  }
#endif
  fn(Dot<F, kExact>());
}
