// The kernels for one instruction set: generic sources, compiled with this set's flags
// (cmake/isa.cmake).
#include "kernels/cpu/generic.h"

namespace ft::cpu_scalar {
namespace {
#include "kernels/cpu/specification.inl"

template <typename F, bool kExact>
using Dot = PlainDot<F, kExact>;

#include "kernels/cpu/all.inl"
}  // namespace

const Ops& ops(bool exact) {
  return exact ? table<true>("scalar") : table<false>("scalar");
}

}  // namespace ft::cpu_scalar
