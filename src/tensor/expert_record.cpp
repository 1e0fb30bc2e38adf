#include "tensor/expert_record.h"

#include "base/checked.h"

namespace ft {

ExpertLayout::ExpertLayout(const ExpertShape& shape) : shape_(shape) {
  constexpr uint64_t kAlign = 64;
  constexpr uint64_t kRecordAlign = 4096;
  uint64_t end = kAlign;  // the factors
  for (const ExpertMatrix m : {ExpertMatrix::kGate, ExpertMatrix::kUp, ExpertMatrix::kDown}) {
    Plane& plane = planes_[static_cast<int>(m)];
    plane.row_bytes = static_cast<int64_t>(
        round_up(static_cast<uint64_t>(row_bytes_of(shape.format, cols(m))), kChunkBytes));
    plane.scale_row_bytes = blocks_of(shape.format, cols(m)) * scale_bytes_of(shape.format);
    plane.codes = end;
    end = round_up(end + static_cast<uint64_t>(rows(m) * plane.row_bytes), kAlign);
    plane.scales = end;
    end = round_up(
        end + static_cast<uint64_t>(scale_rows_of(shape.format, rows(m)) * plane.scale_row_bytes),
        kAlign);
  }
  if (shape.has_bias) {
    for (const ExpertMatrix m : {ExpertMatrix::kGate, ExpertMatrix::kUp, ExpertMatrix::kDown}) {
      planes_[static_cast<int>(m)].bias = end;
      end = round_up(end + sizeof(float) * static_cast<uint64_t>(rows(m)), kAlign);
    }
  }
  record_bytes_ = round_up(end, kRecordAlign);
}

uint64_t ExpertLayout::read_bytes() const {
  uint64_t sum = 0;
  for (const ExpertMatrix m : {ExpertMatrix::kGate, ExpertMatrix::kUp, ExpertMatrix::kDown}) {
    sum += bytes_of({.format = shape_.format, .rows = rows(m), .cols = cols(m)});
    if (shape_.has_bias) sum += sizeof(float) * static_cast<uint64_t>(rows(m));
  }
  return sum;
}

}  // namespace ft
