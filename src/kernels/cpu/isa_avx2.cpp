// The kernels for one instruction set: generic sources, compiled with this set's flags
// (cmake/isa.cmake).
#include "kernels/cpu/generic.h"

namespace ft::cpu_avx2 {
namespace {
#include "kernels/cpu/all.inl"
}  // namespace

const Ops& ops(bool exact) {
  return exact ? table<true>("avx2") : table<false>("avx2");
}

}  // namespace ft::cpu_avx2
