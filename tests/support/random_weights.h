// Random matrices of any format with legal scales, and what they mean in double precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

#include "tensor/expert_record.h"
#include "tensor/weight.h"

namespace ft::test {

using Random = std::mt19937_64;

inline std::vector<FormatId> all_formats() {
  std::vector<FormatId> formats;
  for (size_t i = 0; i < kFormats; ++i) formats.push_back(static_cast<FormatId>(i));
  return formats;
}

/// Whether activations become int8 before they are multiplied; rows then consist of whole blocks.
inline bool has_int8_partner(FormatId format) {
  return visit_format(format, [](auto f) { return decltype(f)::kPartner == Partner::kInt8; });
}

/// Columns that a format can have, near `wanted`.
inline int64_t legal_cols(FormatId format, int64_t wanted) {
  const int64_t block = visit_format(format, [](auto f) -> int64_t { return decltype(f)::kBlock; });
  const int64_t unit = has_int8_partner(format) ? block : 1;
  return std::max(wanted / unit * unit, unit);
}

inline std::vector<float> random_floats(Random& random, int64_t n, float deviation = 1) {
  std::normal_distribution<float> normal(0, deviation);
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values) value = normal(random);
  return values;
}

inline TensorView view_of(std::vector<float>& values, int64_t rows, int64_t cols) {
  return {.data = values.data(), .rows = rows, .cols = cols, .stride = cols};
}

/// Writes legal random codes for one row of `cols` values.
template <typename F>
void random_row(Random& random, uint8_t* row, int64_t cols) {
  std::normal_distribution<float> normal(0, 1);
  const int64_t n_bytes = (cols * F::kBits + 7) / 8;
  for (int64_t i = 0; i < n_bytes; ++i) row[i] = static_cast<uint8_t>(random());
  if constexpr (std::is_same_v<F, F32>) {
    for (int64_t k = 0; k < cols; ++k) {
      const float value = normal(random);
      __builtin_memcpy(row + 4 * k, &value, 4);
    }
  } else if constexpr (std::is_same_v<F, F16> || std::is_same_v<F, Bf16>) {
    for (int64_t k = 0; k < cols;
         ++k) {  // sign and mantissa are random, the exponent stays near one
      const bool is_half = std::is_same_v<F, F16>;
      const auto bits =
          static_cast<uint16_t>(is_half ? (random() & 0x83FF) | (12 + random() % 5) << 10
                                        : (random() & 0x807F) | (124 + random() % 5) << 7);
      __builtin_memcpy(row + 2 * k, &bits, 2);
    }
  } else if constexpr (std::is_same_v<F, Fp8Block>) {
    for (int64_t k = 0; k < cols; ++k) {
      if ((row[k] & 0x7F) == 0x7F) row[k] = 0x38;  // no NaN
    }
  } else if constexpr (std::is_same_v<F, Q8>) {
    for (int64_t k = 0; k < cols; ++k) {
      if (row[k] == 0x80 || random() % 8 == 0) row[k] = random() % 2 == 0 ? 0x81 : 0x7F;
    }
  }
}

template <typename F>
void random_scales(Random& random, uint8_t* scales, int64_t n_blocks) {
  for (int64_t b = 0; b < n_blocks; ++b) {
    if constexpr (std::is_same_v<F, Fp8Block>) {
      const float value = 0.5f + static_cast<float>(random() % 1000) / 1000.0f;
      __builtin_memcpy(scales + 4 * b, &value, 4);
    } else if constexpr (std::is_same_v<F, Mxfp4>) {
      scales[b] = static_cast<uint8_t>(random() % 16 == 0 ? 0 : 120 + random() % 12);
    } else if constexpr (std::is_same_v<F, Nvfp4>) {
      scales[b] = static_cast<uint8_t>(random() % 0x7F);
    } else if constexpr (std::is_same_v<F, Q8>) {
      // Some zero or subnormal, the others from 2^-10 to 2^-6.
      const auto bits =
          static_cast<uint16_t>(random() % 16 == 0 ? random() % 0x400 : 0x1400 + random() % 0x1000);
      __builtin_memcpy(scales + 2 * b, &bits, 2);
    }
  }
}

enum class RowGaps : uint8_t {
  kOdd,   // rows lie a little apart, on any byte
  kNone,  // as in a file
};

/// A matrix and the memory that it borrows.
struct RandomMatrix {
  std::vector<uint8_t> codes;
  std::vector<uint8_t> scales;
  WeightView view;

  RandomMatrix(Random& random, FormatId format, int64_t rows, int64_t cols,
               RowGaps gaps = RowGaps::kOdd) {
    const bool is_odd = gaps == RowGaps::kOdd;
    view.format = format;
    view.rows = rows;
    view.cols = cols;
    view.row_bytes = row_bytes_of(format, cols) + (is_odd ? 5 : 0);
    view.scale_row_bytes = blocks_of(format, cols) * scale_bytes_of(format) + (is_odd ? 3 : 0);
    view.factor = format == kIdOf<Nvfp4> ? 0.03125f * 1.3f : 1.0f;
    codes.resize(static_cast<size_t>(rows * view.row_bytes) + 512);
    scales.resize(static_cast<size_t>(scale_rows_of(format, rows) * view.scale_row_bytes) + 512);
    visit_format(format, [&](auto f) {
      using F = decltype(f);
      for (int64_t n = 0; n < rows; ++n)
        random_row<F>(random, codes.data() + n * view.row_bytes, cols);
      for (int64_t r = 0; r < scale_rows_of(format, rows); ++r) {
        random_scales<F>(random, scales.data() + r * view.scale_row_bytes, blocks_of(format, cols));
      }
    });
    view.codes = codes.data();
    view.scales = scales.data();
  }
};

/// A finite number with a sign, n_exponent bits and n_mantissa bits, as IEEE 754 defines it.
inline double small_float(uint32_t bits, int n_exponent, int n_mantissa) {
  const int bias = (1 << (n_exponent - 1)) - 1;
  const auto exponent = static_cast<int>(bits >> n_mantissa & ((1u << n_exponent) - 1));
  const auto mantissa = static_cast<int>(bits & ((1u << n_mantissa) - 1));
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, 1 - bias - n_mantissa)
                    : std::ldexp((1 << n_mantissa) + mantissa, exponent - bias - n_mantissa);
  return (bits >> (n_exponent + n_mantissa) & 1) != 0 ? -magnitude : magnitude;
}
inline double f16(uint16_t bits) {
  return small_float(bits, 5, 10);
}
inline double bf16(uint16_t bits) {
  return small_float(bits, 8, 7);
}
inline double e4m3(uint8_t bits) {
  return small_float(bits, 4, 3);
}
inline double e8m0(uint8_t bits) {
  return std::ldexp(1.0, bits - 127);
}
/// Value k of packed four-bit numbers, low half first.
inline double e2m1(const uint8_t* bytes, int64_t k) {
  return small_float(bytes[k / 2] >> (k % 2 * 4) & 15u, 2, 1);
}

/// w[n, k] as the file means it: by the definitions of the formats, with none of the kernels' code.
inline double meant(const WeightView& w, int64_t n, int64_t k) {
  const uint8_t* row = w.codes + n * w.row_bytes;
  const int64_t tile_row = (w.first_row + n) / 128;
  const uint8_t* scales = w.scales + (w.first_row + n) * w.scale_row_bytes;
  if (w.format == kIdOf<F32>) return load<float>(row + 4 * k);
  if (w.format == kIdOf<F16>) return f16(load<uint16_t>(row + 2 * k));
  if (w.format == kIdOf<Bf16>) return bf16(load<uint16_t>(row + 2 * k));
  if (w.format == kIdOf<Fp8Block>)
    return e4m3(row[k]) * load<float>(w.scales + tile_row * w.scale_row_bytes + k / 128 * 4);
  if (w.format == kIdOf<Mxfp4>) return e2m1(row, k) * e8m0(scales[k / 32]);
  if (w.format == kIdOf<Nvfp4>) return e2m1(row, k) * e4m3(scales[k / 16]) * w.factor;
  if (w.format == kIdOf<Q8>)
    return static_cast<int8_t>(row[k]) * f16(load<uint16_t>(scales + k / 32 * 2));
  std::abort();  // a format that is missing here
}

/// The records of n experts, legal and random.
inline std::vector<uint8_t> random_records(Random& random, const ExpertLayout& layout, int64_t n) {
  std::vector<uint8_t> records(static_cast<size_t>(n) * layout.record_bytes() + 512);
  for (int64_t e = 0; e < n; ++e) {
    uint8_t* record = records.data() + static_cast<uint64_t>(e) * layout.record_bytes();
    for (const ExpertMatrix m : {ExpertMatrix::kGate, ExpertMatrix::kUp, ExpertMatrix::kDown}) {
      const float factor = layout.shape().format == kIdOf<Nvfp4> ? 0.01f : 1.0f;
      __builtin_memcpy(record + ExpertLayout::factor_offset(m), &factor, sizeof(factor));
      const WeightView w = layout.matrix(record, m);
      visit_format(w.format, [&](auto f) {
        using F = decltype(f);
        for (int64_t r = 0; r < w.rows; ++r) {
          random_row<F>(random, record + layout.codes_offset(m) + r * w.row_bytes, w.cols);
        }
        for (int64_t r = 0; r < scale_rows_of(w.format, w.rows); ++r) {
          random_scales<F>(random, record + layout.scales_offset(m) + r * w.scale_row_bytes,
                           blocks_of(w.format, w.cols));
        }
      });
      if (!layout.shape().has_bias) continue;
      const std::vector<float> bias = random_floats(random, w.rows, 0.1f);
      __builtin_memcpy(record + layout.bias_offset(m), bias.data(), bias.size() * sizeof(float));
    }
  }
  return records;
}

}  // namespace ft::test
