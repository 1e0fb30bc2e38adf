// How one expert lies in memory: one contiguous record, the same in host memory, in a copy and in a
// slot of a GPU.
#pragma once

#include <cstdint>

#include "tensor/weight.h"

namespace ft {

enum class ExpertMatrix : uint8_t { kGate, kUp, kDown };

/// gate and up: [d_expert, d_model]; down: [d_model, d_expert].
struct ExpertShape {
  FormatId format = kIdOf<Bf16>;
  int64_t d_model = 0;
  int64_t d_expert = 0;
  bool has_bias = false;

  bool operator==(const ExpertShape&) const = default;
};

/// Offsets within a record: a head with the three factors, then codes and scales of each matrix,
/// then the biases as float32. Rows of codes begin at multiples of 16 bytes, everything else at
/// multiples of 64, records at multiples of 4096.
class ExpertLayout {
 public:
  ExpertLayout() = default;
  explicit ExpertLayout(const ExpertShape& shape);

  FT_INLINE const ExpertShape& shape() const { return shape_; }
  FT_INLINE uint64_t record_bytes() const { return record_bytes_; }

  /// Bytes that computing the expert reads: codes, scales and biases without padding.
  uint64_t read_bytes() const;

  FT_INLINE int64_t rows(ExpertMatrix m) const {
    return m == ExpertMatrix::kDown ? shape_.d_model : shape_.d_expert;
  }
  FT_INLINE int64_t cols(ExpertMatrix m) const {
    return m == ExpertMatrix::kDown ? shape_.d_expert : shape_.d_model;
  }

  FT_INLINE WeightView matrix(const uint8_t* record, ExpertMatrix m) const {
    const Plane& plane = planes_[static_cast<int>(m)];
    return {.format = shape_.format,
            .rows = rows(m),
            .cols = cols(m),
            .codes = record + plane.codes,
            .row_bytes = plane.row_bytes,
            .scales = record + plane.scales,
            .scale_row_bytes = plane.scale_row_bytes,
            .factor = load<float>(record + factor_offset(m))};
  }

  /// [rows(m)], or nullptr for experts without biases.
  FT_INLINE const float* bias(const uint8_t* record, ExpertMatrix m) const {
    return shape_.has_bias
               ? reinterpret_cast<const float*>(record + planes_[static_cast<int>(m)].bias)
               : nullptr;
  }

  static FT_INLINE constexpr uint64_t factor_offset(ExpertMatrix m) {
    return sizeof(float) * static_cast<uint64_t>(m);
  }
  uint64_t codes_offset(ExpertMatrix m) const { return planes_[static_cast<int>(m)].codes; }
  uint64_t scales_offset(ExpertMatrix m) const { return planes_[static_cast<int>(m)].scales; }
  uint64_t bias_offset(ExpertMatrix m) const { return planes_[static_cast<int>(m)].bias; }

 private:
  struct Plane {
    uint64_t codes = 0;
    uint64_t scales = 0;
    uint64_t bias = 0;
    int64_t row_bytes = 0;
    int64_t scale_row_bytes = 0;
  };

  ExpertShape shape_;
  Plane planes_[3];
  uint64_t record_bytes_ = 0;
};

}  // namespace ft
