#include "experts/expert_bank.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include "base/error.h"
#include "base/page_cache.h"
#include "base/team.h"
#include "device/numa.h"

namespace ft {
namespace {

ExpertShape shape_of(const ExpertSource& source) {
  return {.format = source.gate.format,
          .d_model = source.gate.cols,
          .d_expert = source.gate.rows,
          .has_bias = source.gate.bias.data != nullptr};
}

void check_alike(const ExpertSource& source, const ExpertShape& shape) {
  for (const MatrixSource* m : {&source.gate, &source.up, &source.down}) {
    if (m->format == shape.format && (m->bias.data != nullptr) == shape.has_bias) continue;
    unsupported(
        "{} is stored as {}{}, other experts as {}{}; experts of several formats in one model are "
        "not supported",
        m->name, name_of(m->format), m->bias.data != nullptr ? " with bias" : "",
        name_of(shape.format), shape.has_bias ? " with bias" : "");
  }
}

}  // namespace

ExpertBank::ExpertBank(std::vector<ExpertSource> sources, int64_t n_experts)
    : sources_(std::move(sources)), n_experts_(n_experts) {
  if (sources_.empty()) return;
  n_layers_ = static_cast<int64_t>(sources_.size()) / n_experts;
  const ExpertShape shape = shape_of(sources_.front());
  for (const ExpertSource& source : sources_) check_alike(source, shape);
  layout_ = ExpertLayout(shape);
}

std::string ExpertBank::reserve(std::span<const int> nodes) {
  buffer_ = Buffer(n_bytes());
  return nodes.empty() ? "" : spread_over_nodes(buffer_.data(), buffer_.size(), nodes);
}

void ExpertBank::fill(Team& team, const std::function<void(uint64_t)>& on_progress) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kInterval = std::chrono::milliseconds(200);
  // Faults fetch little at a time and one after the other; a disk wants to know of more.
  constexpr uint64_t kAheadBytes = 64 << 20;
  if (buffer_.data() == nullptr) reserve({});
  auto* records = reinterpret_cast<uint8_t*>(buffer_.data());
  const uint64_t record_bytes = layout_.record_bytes();
  std::atomic<uint64_t> done_bytes = 0;
  Clock::time_point next = Clock::now() + kInterval;
  const auto n_records = static_cast<int64_t>(sources_.size());
  const int64_t n_ahead = 1 + static_cast<int64_t>(kAheadBytes / record_bytes);
  for (int64_t i = 0; i < std::min(n_ahead, n_records); ++i) ask_for(i);
  team.run(n_records, 1, [&](int64_t begin, int64_t end, int member) {
    for (int64_t i = begin; i < end; ++i) {
      if (i + n_ahead < n_records) ask_for(i + n_ahead);
      fill_record(sources_[static_cast<size_t>(i)],
                  records + static_cast<uint64_t>(i) * record_bytes);
      done_bytes += record_bytes;
    }
    if (member == 0 && on_progress && Clock::now() >= next) {
      on_progress(done_bytes);
      next = Clock::now() + kInterval;
    }
  });
  sources_ = {};
}

void ExpertBank::ask_for(int64_t index) const {
  const ExpertSource& source = sources_[static_cast<size_t>(index)];
  for (const MatrixSource* m : {&source.gate, &source.up, &source.down}) {
    read_ahead(m->codes, static_cast<size_t>(m->span_bytes()));
  }
}

void ExpertBank::fill_record(const ExpertSource& source, uint8_t* record) const {
  for (const ExpertMatrix m : {ExpertMatrix::kGate, ExpertMatrix::kUp, ExpertMatrix::kDown}) {
    const MatrixSource& from = m == ExpertMatrix::kGate ? source.gate
                               : m == ExpertMatrix::kUp ? source.up
                                                        : source.down;
    std::memcpy(record + ExpertLayout::factor_offset(m), &from.factor, sizeof(float));
    copy_codes(from, record + layout_.codes_offset(m), layout_.matrix(record, m).row_bytes);
    if (from.scales != nullptr) copy_scales(from, record + layout_.scales_offset(m));
    if (from.bias.data == nullptr) continue;
    for (int64_t n = 0; n < from.rows; ++n) {
      const float value = finite_at(from.bias, n);
      std::memcpy(record + layout_.bias_offset(m) + sizeof(float) * static_cast<uint64_t>(n),
                  &value, sizeof(float));
    }
  }
}

}  // namespace ft
