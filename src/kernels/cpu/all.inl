// The generic kernels in the order in which they need each other. Before them a unit has chosen its
// Dot: for each format, how rows are packed and multiplied.
// clang-format off
#include "kernels/cpu/dot_choice.inl"
#include "kernels/cpu/multiply.inl"
#include "kernels/cpu/linear.inl"
#include "kernels/cpu/experts.inl"
#include "kernels/cpu/panels.inl"
#include "kernels/cpu/store_kv.inl"
#include "kernels/cpu/attention_block.inl"
#include "kernels/cpu/attention.inl"
#include "kernels/cpu/rows.inl"
#include "kernels/cpu/route.inl"
#include "kernels/cpu/table.inl"
