// Every routed expert of every layer in host memory, one contiguous record each. Filled once,
// immutable afterwards.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/buffer.h"
#include "device/huge_pages.h"
#include "files/weights.h"
#include "tensor/expert_record.h"

namespace ft {

class Team;

/// Where the three matrices of one expert come from.
struct ExpertSource {
  MatrixSource gate, up, down;
};

class ExpertBank {
 public:
  /// Plans the records; allocates nothing yet. Sources: [n_layers, n_experts], all of one
  /// shape. Errors: kUnsupported if an expert differs from the first in format or in having biases.
  ExpertBank(std::vector<ExpertSource> sources, int64_t n_experts);

  /// Takes the records' memory, of these NUMA nodes in turn where there are some. Returns why the
  /// system refused that, or "". Errors: kOutOfMemory.
  std::string reserve(std::span<const int> nodes);

  /// Copies and checks all experts, in parallel; reserves the memory where nobody has.
  /// `on_progress(done_bytes)` is called by the calling thread a few times a second. Errors: kBadInput
  /// for a bad scale, an fp8 weight that is NaN or a bias that is not finite; kOutOfMemory.
  void fill(Team& team, const std::function<void(uint64_t)>& on_progress);

  const ExpertLayout& layout() const { return layout_; }
  int64_t n_layers() const { return n_layers_; }
  int64_t n_experts() const { return n_experts_; }
  uint64_t n_bytes() const {
    return static_cast<uint64_t>(n_layers_ * n_experts_) * layout_.record_bytes();
  }

  /// After fill(): see huge_page_share() of device/.
  std::optional<double> huge_page_share() const {
    return ft::huge_page_share(buffer_.data(), buffer_.size());
  }

  /// The records of one layer, record_bytes apart.
  const uint8_t* layer(int64_t index) const {
    return reinterpret_cast<const uint8_t*>(buffer_.data()) +
           static_cast<uint64_t>(index * n_experts_) * layout_.record_bytes();
  }

 private:
  void ask_for(int64_t index) const;
  void fill_record(const ExpertSource& source, uint8_t* record) const;

  std::vector<ExpertSource> sources_;  // empty after fill()
  ExpertLayout layout_;
  int64_t n_layers_ = 0;
  int64_t n_experts_ = 0;
  Buffer buffer_;
};

}  // namespace ft
