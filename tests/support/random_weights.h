// Random matrices of any format with legal scales, and what they mean in double precision.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "tensor/expert_record.h"
#include "tensor/weight.h"

namespace ft::test {

using Random = std::mt19937_64;

inline std::vector<float> random_floats(Random& random, int64_t n, float deviation = 1) {
  std::normal_distribution<float> normal(0, deviation);
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values) value = normal(random);
  return values;
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
    }
  }
}

/// A matrix and the memory that it borrows; rows lie a little apart.
struct RandomMatrix {
  std::vector<uint8_t> codes;
  std::vector<uint8_t> scales;
  WeightView view;

  RandomMatrix(Random& random, FormatId format, int64_t rows, int64_t cols) {
    view.format = format;
    view.rows = rows;
    view.cols = cols;
    view.row_bytes = row_bytes_of(format, cols) + 5;
    view.scale_row_bytes = blocks_of(format, cols) * scale_bytes_of(format) + 3;
    view.factor = format == id_of<Nvfp4> ? 0.03125f * 1.3f : 1.0f;
    codes.resize(static_cast<size_t>(rows * view.row_bytes) + 256);
    scales.resize(static_cast<size_t>(scale_rows_of(format, rows) * view.scale_row_bytes) + 256);
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

/// w[n, k] as the file means it.
inline double meant(const WeightView& w, int64_t n, int64_t k) {
  return visit_format(w.format, [&](auto f) -> double {
    using F = decltype(f);
    const uint8_t* chunk = w.codes + n * w.row_bytes + k / F::kChunkValues * kChunkBytes;
    const uint8_t* scales = w.scales + (w.first_row + n) / F::kScaleRows * w.scale_row_bytes;
    return F::dequantise(chunk, static_cast<int>(k % F::kChunkValues), scales,
                         F::kBlock == 0 ? 0 : k / F::kBlock, w.factor);
  });
}

/// The records of n experts, legal and random.
inline std::vector<uint8_t> random_records(Random& random, const ExpertLayout& layout, int64_t n) {
  std::vector<uint8_t> records(static_cast<size_t>(n) * layout.record_bytes() + 256);
  for (int64_t e = 0; e < n; ++e) {
    uint8_t* record = records.data() + static_cast<uint64_t>(e) * layout.record_bytes();
    for (const ExpertMatrix m : {ExpertMatrix::kGate, ExpertMatrix::kUp, ExpertMatrix::kDown}) {
      const float factor = layout.shape().format == id_of<Nvfp4> ? 0.01f : 1.0f;
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
