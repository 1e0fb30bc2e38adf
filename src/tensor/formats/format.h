// What a weight format is: a struct with these members. Its header is the only place that knows how
// its values are packed and in which order they are summed.
//
//   kName          as users read it
//   kBits          bits of a stored value
//   kChunkValues   values in 16 bytes of a weight row (a chunk). A value belongs to partial sum
//                  (its chunk) mod 32, ascending inside it
//   kBlock         values of a row that share a scale; 0 for a format without scales
//   kScaleRows     rows that share a row of scales
//   kScaleBytes    bytes of a stored scale
//   kPartner       what activations become before they are multiplied
//   kRowFactor     what the sum of a row is multiplied with, times the weight's own factor, at the end
//   scale(scales, b)       the scale of block b of a row, as the arithmetic uses it
//   value(chunk, j)        value j of a chunk without its scale (float partner)
//   unpack(piece, codes)   the values of a block, or of a chunk where this is less, as small integers,
//                          even positions first (int8)
//   dequantise(...)        the number that the file means, in float32: what `--exact` multiplies with
#pragma once

#include <cstdint>

#include "tensor/numeric.h"

namespace ft {

enum class Partner {
  kFloat,  // float32 activations, one fused multiply-add a value
  kInt8,   // int8 activations with one scale for each weight block; products are summed exactly
};

constexpr int kChunkBytes = 16;
constexpr int kPartials = 32;

}  // namespace ft
