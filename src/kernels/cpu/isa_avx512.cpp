// The kernels for one instruction set: generic sources, compiled with this set's flags
// (cmake/isa.cmake).
#include "kernels/cpu/generic.h"

namespace ft::cpu_avx512 {
namespace {
#include "kernels/cpu/all.inl"
}  // namespace

const Ops& ops(bool exact) {
  return exact ? table<true>("avx512") : table<false>("avx512");
}

}  // namespace ft::cpu_avx512
