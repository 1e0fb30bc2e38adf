// The dots of a unit with vectors. `--exact` is the specification itself.
// clang-format off
#include "kernels/cpu/unroll.inl"
#include "kernels/cpu/dot_float.inl"
#include "kernels/cpu/dot_int8.inl"
// clang-format on

template <typename F, bool kExact>
using Dot = std::conditional_t<
    kExact, PlainDot<F, true>,
    std::conditional_t<F::kPartner == Partner::kInt8, VectorInt8Dot<F>, VectorFloatDot<F>>>;
