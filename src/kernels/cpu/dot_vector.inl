// The dots of a unit with vectors. `--exact` is the specification itself.
// clang-format off
#include "kernels/cpu/unroll.inl"
#include "kernels/cpu/dot_float.inl"
#include "kernels/cpu/dot_int8.inl"
#include "kernels/cpu/dot_q8.inl"
#if defined(__AVX512BF16__)
#include "kernels/cpu/dot_bf16.inl"
#endif
#if defined(__AMX_TILE__)
#include "kernels/cpu/amx_tiles.inl"
#include "kernels/cpu/amx_bf16.inl"
#include "kernels/cpu/amx_int8.inl"
#endif
// clang-format on

/// Formats whose codes the vector dots can decode. Another one is multiplied plainly until somebody
/// teaches them.
template <typename F>
constexpr bool kHasVectorDot =
    std::is_same_v<F, F32> || std::is_same_v<F, F16> || std::is_same_v<F, Bf16> ||
    std::is_same_v<F, Fp8Block> || std::is_same_v<F, Mxfp4> || std::is_same_v<F, Nvfp4> ||
    std::is_same_v<F, Q8>;

template <typename F>
using Int8Codes = std::conditional_t<std::is_same_v<F, Q8>, Q8Codes, E2m1Codes<F>>;

template <typename F>
using VectorDot = std::conditional_t<F::kPartner == Partner::kInt8, VectorInt8Dot<F, Int8Codes<F>>,
                                     VectorFloatDot<F>>;

template <typename F, bool kExact>
using Dot = std::conditional_t<kExact || !kHasVectorDot<F>, PlainDot<F, kExact>, VectorDot<F>>;
