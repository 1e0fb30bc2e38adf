// Each member sums its own slice of one buffer.
#include "device/read_probe.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include "base/each_member.h"
#include "device/machine.h"

namespace ft {
namespace {

size_t slice_bytes_of(const Team& team, uint64_t most_bytes) {
  const uint64_t least_bytes = most_bytes / 8;
  const uint64_t n_bytes = std::clamp(available_memory_bytes() / 4, least_bytes, most_bytes);
  return n_bytes / static_cast<size_t>(team.n_threads()) / 4096 * 4096;
}

uint64_t load(const std::byte* data) {
  uint64_t value = 0;
  std::memcpy(&value, data, sizeof value);
  return value;
}

/// Eight independent sums in registers, so that neither an addition nor its result's way through
/// memory is what is measured. Asks for memory as far ahead as the kernels do: without it some
/// machines read a third slower than these, and every share of the bound would flatter. `n_bytes` is
/// a multiple of 64.
uint64_t sum_of(const std::byte* data, size_t n_bytes) {
  uint64_t a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
  constexpr size_t kPrefetchBytes = 4096;
  for (const std::byte* end = data + n_bytes; data < end; data += 64) {
    __builtin_prefetch(data + kPrefetchBytes, 0, 2);
    a += load(data);
    b += load(data + 8);
    c += load(data + 16);
    d += load(data + 24);
    e += load(data + 32);
    f += load(data + 40);
    g += load(data + 48);
    h += load(data + 56);
  }
  return a + b + c + d + e + f + g + h;
}

}  // namespace

ReadProbe::ReadProbe(Team& team, uint64_t most_bytes)
    : team_(team),
      slice_bytes_(slice_bytes_of(team, most_bytes)),
      pages_(slice_bytes_ * static_cast<size_t>(team.n_threads())) {
  run_on_each_member(team_, [&](int member) {
    std::memset(pages_.data() + static_cast<size_t>(member) * slice_bytes_, member + 1,
                slice_bytes_);
  });
}

double ReadProbe::pass_gbps() {
  std::atomic<uint64_t> total{0};  // the sums must go somewhere, or the compiler drops the loads
  const auto begin = std::chrono::steady_clock::now();
  run_on_each_member(team_, [&](int member) {
    total += sum_of(pages_.data() + static_cast<size_t>(member) * slice_bytes_, slice_bytes_);
  });
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  return static_cast<double>(pages_.size()) / time.count() / 1e9;
}

}  // namespace ft
