// The members of a team sum one buffer.
#include "device/read_probe.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include "base/cpus.h"
#include "base/team.h"
#include "device/machine.h"

namespace ft {
namespace {

constexpr size_t kPieceBytes = 256 << 10;

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

ProbeSize probe_size(uint64_t cache_bytes, uint64_t available_bytes) {
  constexpr uint64_t kUsual = uint64_t{512} << 20;
  constexpr uint64_t kLeast = uint64_t{64} << 20;
  const uint64_t wanted_bytes = std::max(4 * cache_bytes, kUsual);
  const uint64_t most_bytes = std::max(available_bytes / 8, kLeast);
  return {.n_bytes = std::min(wanted_bytes, most_bytes), .cache_bytes = cache_bytes};
}

ProbeSize probe_size_for(int n_threads) {
  const AllowedCpus allowed = allowed_cpus();
  const size_t n_cpus = std::min(allowed.cpus.size(), static_cast<size_t>(n_threads));
  const uint64_t cache_bytes = shared_cache_bytes_in("", std::span(allowed.cpus).first(n_cpus));
  return probe_size(cache_bytes, available_memory_bytes());
}

ReadProbe::ReadProbe(Team& team, ProbeSize size)
    : team_(team),
      size_(size),
      n_pieces_(std::max<int64_t>(static_cast<int64_t>(size.n_bytes / kPieceBytes), 1)),
      pieces_(static_cast<size_t>(n_pieces_) * kPieceBytes) {
  team_.run(n_pieces_, 1, [&](int64_t begin, int64_t end, int member) {
    std::memset(pieces_.data() + static_cast<size_t>(begin) * kPieceBytes, member + 1,
                static_cast<size_t>(end - begin) * kPieceBytes);
  });
}

double ReadProbe::pass_gbps() {
  std::atomic<uint64_t> total{0};  // the sums must go somewhere, or the compiler drops the loads
  const auto begin = std::chrono::steady_clock::now();
  team_.run(n_pieces_, 1, [&](int64_t first, int64_t end, int) {
    total.fetch_add(sum_of(pieces_.data() + static_cast<size_t>(first) * kPieceBytes,
                           static_cast<size_t>(end - first) * kPieceBytes),
                    std::memory_order_relaxed);
  });
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  return static_cast<double>(pieces_.size()) / time.count() / 1e9;
}

}  // namespace ft
