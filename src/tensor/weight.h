// Borrowed matrices: activations, and weights with their scales.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/formats.h"

namespace ft {

/// Borrowed float32 activations on one device: [rows, cols], row r begins at data + r * stride.
struct TensorView {
  float* data = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t stride = 0;

  FT_INLINE float* row(int64_t r) const { return data + r * stride; }

  /// Rows [begin, begin + count) of this tensor.
  FT_INLINE TensorView slice(int64_t begin, int64_t count) const {
    return {.data = row(begin), .rows = count, .cols = cols, .stride = stride};
  }
};

/// All that one needs to multiply by a weight: y[n] = sum_k w[n, k] x[k]. Borrowed.
struct WeightView {
  FormatId format = kIdOf<F32>;
  int64_t rows = 0;                 // outputs
  int64_t cols = 0;                 // inputs
  const uint8_t* codes = nullptr;   // [rows, row_bytes]
  int64_t row_bytes = 0;            // distance between rows; at least row_bytes_of(format, cols)
  const uint8_t* scales = nullptr;  // [ceil(rows / kScaleRows), scale_row_bytes]
  int64_t scale_row_bytes = 0;
  float factor = 1;       // of the whole matrix (nvfp4's second scale)
  int64_t first_row = 0;  // of this view within the matrix that the scales belong to

  /// Rows [begin, begin + count) of this matrix.
  FT_INLINE WeightView slice(int64_t begin, int64_t count) const {
    WeightView part = *this;
    part.codes += begin * row_bytes;
    part.rows = count;
    part.first_row += begin;
    return part;
  }
};

/// A format whose codes are numbers by themselves, without scales.
template <typename F>
inline constexpr bool kIsPlain = F::kBlock == 0;

FT_INLINE bool is_plain(FormatId format) {
  return visit_format(format, [](auto f) { return kIsPlain<decltype(f)>; });
}

/// Bytes that `cols` values of a row take, without padding.
FT_INLINE int64_t row_bytes_of(FormatId format, int64_t cols) {
  return visit_format(format, [&](auto f) { return (cols * decltype(f)::kBits + 7) / 8; });
}

/// Scales in a row of scales.
FT_INLINE int64_t blocks_of(FormatId format, int64_t cols) {
  return visit_format(format, [&](auto f) -> int64_t {
    using F = decltype(f);
    if constexpr (kIsPlain<F>) {
      return 0;
    } else {
      return (cols + F::kBlock - 1) / F::kBlock;
    }
  });
}

/// Rows of scales that a matrix of `rows` rows has.
FT_INLINE int64_t scale_rows_of(FormatId format, int64_t rows) {
  return visit_format(format, [&](auto f) -> int64_t {
    using F = decltype(f);
    return kIsPlain<F> ? 0 : (rows + F::kScaleRows - 1) / F::kScaleRows;
  });
}

FT_INLINE int64_t scale_bytes_of(FormatId format) {
  return visit_format(format, [](auto f) -> int64_t { return decltype(f)::kScaleBytes; });
}

/// Bytes of codes and scales that one multiplication reads.
FT_INLINE uint64_t bytes_of(const WeightView& w) {
  return static_cast<uint64_t>(w.rows * row_bytes_of(w.format, w.cols) +
                               scale_rows_of(w.format, w.rows) * blocks_of(w.format, w.cols) *
                                   scale_bytes_of(w.format));
}

}  // namespace ft
