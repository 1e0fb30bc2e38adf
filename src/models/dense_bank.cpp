#include "models/dense_bank.h"

#include <utility>

#include "base/check.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/team.h"
#include "base/units.h"
#include "device/numa.h"

namespace ft {
namespace {

/// Block b of a row of plain numbers.
void read_block(FormatId format, const uint8_t* row, int64_t b, float* values) {
  visit_format(format, [&](auto f) {
    using F = decltype(f);
    if constexpr (kIsPlain<F>) {
      const uint8_t* block = row + b * Q8::kBlock * F::kBits / 8;
      for (int i = 0; i < Q8::kBlock; ++i) values[i] = F::value(block, i);
    } else {
      FT_CHECK(false, "a copy was planned of a matrix that is not plain");
    }
  });
}

}  // namespace

void DenseBank::add(WeightView& weight, std::string name) {
  constexpr uint64_t kAlign = 64;
  if (!is_plain(weight.format) || weight.cols % Q8::kBlock != 0) {
    ++(is_plain(weight.format) ? n_odd_columns_ : n_other_formats_);
    return;
  }
  const WeightView copy = {.format = kIdOf<Q8>,
                           .rows = weight.rows,
                           .cols = weight.cols,
                           .row_bytes = row_bytes_of(kIdOf<Q8>, weight.cols),
                           .scale_row_bytes = blocks_of(kIdOf<Q8>, weight.cols) * Q8::kScaleBytes};
  const auto rows = static_cast<uint64_t>(weight.rows);
  const uint64_t codes = round_up(n_bytes_, kAlign);
  const uint64_t scales = round_up(codes + rows * static_cast<uint64_t>(copy.row_bytes), kAlign);
  n_bytes_ = scales + rows * static_cast<uint64_t>(copy.scale_row_bytes);
  source_bytes_ += bytes_of(weight);
  matrices_.push_back({std::move(name), weight, &weight, codes, scales});
  weight = copy;
}

void DenseBank::fill_rows(const Matrix& matrix, int64_t begin, int64_t end) {
  const WeightView& from = matrix.from;
  const WeightView& to = *matrix.to;
  auto* memory = reinterpret_cast<uint8_t*>(buffer_.data());
  float values[Q8::kBlock] = {};
  for (int64_t n = begin; n < end; ++n) {
    uint8_t* codes = memory + matrix.codes + n * to.row_bytes;
    uint8_t* scales = memory + matrix.scales + n * to.scale_row_bytes;
    for (int64_t b = 0; b < from.cols / Q8::kBlock; ++b) {
      read_block(from.format, from.codes + n * from.row_bytes, b, values);
      if (Q8::quantise(values, codes + b * Q8::kBlock, scales + b * Q8::kScaleBytes)) continue;
      bad_input(
          "{}, row {}: a weight among columns {} to {} is NaN, or larger than the 8.3 million that "
          "q8 can hold; load it without --dense-dtype q8",
          matrix.name, n, b * Q8::kBlock, (b + 1) * Q8::kBlock - 1);
    }
  }
}

std::string DenseBank::reserve(std::span<const int> nodes) {
  buffer_ = Buffer(n_bytes_);
  return nodes.empty() ? "" : spread_over_nodes(buffer_.data(), buffer_.size(), nodes);
}

void DenseBank::fill(Team& team, const std::function<void(uint64_t)>& on_progress) {
  constexpr int64_t kPieceValues = 1 << 16;
  if (matrices_.empty()) return;
  if (buffer_.data() == nullptr) reserve({});
  const auto* memory = reinterpret_cast<const uint8_t*>(buffer_.data());
  for (const Matrix& matrix : matrices_) {
    WeightView& to = *matrix.to;
    to.codes = memory + matrix.codes;
    to.scales = memory + matrix.scales;
    team.run(to.rows, kPieceValues / to.cols + 1,
             [&](int64_t begin, int64_t end, int) { fill_rows(matrix, begin, end); });
    on_progress(matrix.scales);
  }
}

std::string DenseBank::describe() const {
  if (matrices_.empty() && n_odd_columns_ + n_other_formats_ == 0) return "";
  std::string text = matrices_.empty()
                         ? "q8: no dense matrix can become it"
                         : fmt::format("q8: {} dense matrices of {} become {}", matrices_.size(),
                                       format_bytes(source_bytes_), format_bytes(n_bytes_));
  if (n_other_formats_ > 0)
    text += fmt::format("; {} stay as they are, being quantised in the file", n_other_formats_);
  if (n_odd_columns_ > 0) {
    text += fmt::format("; {} stay as they are, having columns that {} does not divide",
                        n_odd_columns_, Q8::kBlock);
  }
  return text;
}

}  // namespace ft
