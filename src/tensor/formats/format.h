// What a weight format is. Each format is a struct with the constants below and two or three small
// functions; its header is the only place that knows how its values are packed and in which order
// they are summed.
//
//   kName           as users read it
//   kChunkValues    values in 16 bytes of a weight row. Partial sum of a value: (its chunk) mod 32,
//   ascending inside it. kBits           bits of a stored value kBlock          values of a row
//   that share a scale; 0 for a format without scales kScaleRows      rows that share a row of
//   scales kScaleBytes     bytes of a stored scale kPartner        what activations become before
//   they are multiplied scale(scales, b)        the scale of block b of a row, as the arithmetic
//   uses it value(chunk, j)         value j of a chunk without its scale (float partner)
//   unpack(block, codes)    the kBlock values of a block as small integers, even positions first
//   (int8 partner) kRowFactor      what the sum of a row is multiplied with, times the weight's own
//   factor, once at the end dequantise(...)  the number that the file means, rounded to float32
//   once: the specification that `--exact` multiplies with
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
