#include "kernels/crossovers.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <vector>

#include "base/file_map.h"
#include "base/team.h"
#include "kernels/ops.h"

namespace ft {
namespace {

constexpr std::array<int64_t, 7> kTried = {2, 3, 4, 6, 8, 12, 16};
constexpr int32_t kNever = std::numeric_limits<int32_t>::max();

/// A matrix of zeros that stays in the second-level cache, and rows to multiply it with.
class Trial {
 public:
  Trial(const Lane& lane, FormatId format)
      : arena_(linear_scratch_bytes(kTried.back(), kCols, lane.team->n_threads())),
        lane_(lane),
        codes_(static_cast<size_t>(kRows * row_bytes_of(format, kCols)) +
               FileMap::kReadablePastEnd),
        scales_(static_cast<size_t>(scale_rows_of(format, kRows) * scale_row_bytes(format)) +
                FileMap::kReadablePastEnd),
        x_(static_cast<size_t>(kTried.back() * kCols)),
        y_(static_cast<size_t>(kTried.back() * kRows)),
        w_{.format = format,
           .rows = kRows,
           .cols = kCols,
           .codes = codes_.data(),
           .row_bytes = row_bytes_of(format, kCols),
           .scales = scales_.data(),
           .scale_row_bytes = scale_row_bytes(format)} {
    lane_.arena = &arena_;
    lane_.may_round = false;
  }

  /// The shortest of a few multiplications.
  double seconds(int64_t n_rows, const Crossovers::Rows& rows) {
    constexpr int kTurns = 4;
    lane_.crossovers.of[static_cast<size_t>(w_.format)] = rows;
    double best = std::numeric_limits<double>::infinity();
    for (int turn = 0; turn < kTurns; ++turn) {
      const auto start = std::chrono::steady_clock::now();
      lane_.ops->linear(lane_,
                        {.w = w_,
                         .x = {.data = x_.data(), .rows = n_rows, .cols = kCols, .stride = kCols},
                         .y = {.data = y_.data(), .rows = n_rows, .cols = kRows, .stride = kRows}});
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      best = std::min(best, took.count());
    }
    return best;
  }

 private:
  static constexpr int64_t kRows = 64;
  static constexpr int64_t kCols = 1024;

  static int64_t scale_row_bytes(FormatId format) {
    return blocks_of(format, kCols) * scale_bytes_of(format);
  }

  Arena arena_;
  Lane lane_;
  std::vector<uint8_t> codes_;
  std::vector<uint8_t> scales_;
  std::vector<float> x_;  // [16, kCols]
  std::vector<float> y_;  // [16, kRows]
  WeightView w_;
};

/// The least number of rows from which on `many` is never the slower one.
template <typename Seconds>
int32_t least_rows(Seconds is_faster) {
  int32_t least = kNever;
  for (auto n = kTried.rbegin(); n != kTried.rend() && is_faster(*n); ++n)
    least = static_cast<int32_t>(*n);
  return least;
}

}  // namespace

Crossovers measure_crossovers(const Lane& lane, std::span<const FormatId> formats) {
  Crossovers measured;
  for (const FormatId format : formats) {
    Trial trial(lane, format);
    const auto seconds = [&](int64_t n, int32_t decoded, int32_t tiles) {
      return trial.seconds(n, {.decoded = decoded, .tiles = tiles});
    };
    Crossovers::Rows& rows = measured.of[static_cast<size_t>(format)];
    rows.decoded =
        least_rows([&](int64_t n) { return seconds(n, 0, kNever) <= seconds(n, kNever, kNever); });
    rows.tiles = least_rows(
        [&](int64_t n) { return seconds(n, kNever, 0) <= seconds(n, rows.decoded, kNever); });
  }
  return measured;
}

}  // namespace ft
