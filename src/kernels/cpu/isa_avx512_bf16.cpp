// The kernels for one instruction set: generic sources, compiled with this set's flags
// (cmake/isa.cmake).
#include "kernels/cpu/generic.h"

namespace ft::cpu_avx512_bf16 {
namespace {
constexpr bool kHasVnni = true;
// clang-format off
#include "kernels/cpu/specification.inl"
#include "kernels/cpu/vector_avx512.inl"
#include "kernels/cpu/dot_vector.inl"
#include "kernels/cpu/all.inl"
// clang-format on
}  // namespace

const Ops& ops(bool exact) {
  return exact ? table<true>("avx512_bf16") : table<false>("avx512_bf16");
}

}  // namespace ft::cpu_avx512_bf16
