// What every unit begins with: scalar arithmetic, and the plain form of every dot.
// clang-format off
#include "kernels/cpu/math.inl"
#include "kernels/cpu/lanes.inl"
#include "kernels/cpu/pack.inl"
#include "kernels/cpu/dot.inl"
