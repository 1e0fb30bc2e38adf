// Loops whose counter is a constant in each turn, so that arrays of vectors stay in registers.

#define FT_INLINE_LAMBDA __attribute__((always_inline))

template <int kValue>
constexpr std::integral_constant<int, kValue> constant = {};

template <typename Fn, int... kTurns>
FT_INLINE void unroll_turns(Fn&& fn, std::integer_sequence<int, kTurns...>) {
  (fn(constant<kTurns>), ...);
}

/// fn(0), ..., fn(kCount - 1) with constants.
template <int kCount, typename Fn>
FT_INLINE void unroll(Fn&& fn) {
  unroll_turns(fn, std::make_integer_sequence<int, kCount>());
}
