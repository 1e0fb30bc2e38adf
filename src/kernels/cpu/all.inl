// The generic kernels in the order in which they need each other.
// clang-format off
#include "kernels/cpu/math.inl"
#include "kernels/cpu/pack.inl"
#include "kernels/cpu/dot.inl"
#include "kernels/cpu/linear.inl"
#include "kernels/cpu/experts.inl"
#include "kernels/cpu/attention.inl"
#include "kernels/cpu/rows.inl"
#include "kernels/cpu/route.inl"
#include "kernels/cpu/table.inl"
