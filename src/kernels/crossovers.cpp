#include "kernels/crossovers.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <vector>

#include "base/team.h"
#include "device/buffer.h"
#include "kernels/ops.h"

namespace ft {
namespace {

constexpr std::array<int64_t, 7> kTried = {2, 3, 4, 6, 8, 12, 16};
constexpr int32_t kNever = std::numeric_limits<int32_t>::max();

/// A matrix of zeros that stays in the second-level cache, and rows to multiply it with.
class Trial {
 public:
  Trial(const Lane& lane, FormatId format)
      : arena_(linear_scratch_bytes(kTried.back(), kCols,
                                    {.n_threads = 1, .n_group_rows = lane.ops->n_group_rows})),
        lane_(lane),
        codes_(static_cast<size_t>(kRows * row_bytes_of(format, kCols))),
        scales_(static_cast<size_t>(scale_rows_of(format, kRows) * scale_row_bytes(format))),
        x_(static_cast<size_t>(kTried.back() * kCols)),
        y_(static_cast<size_t>(kTried.back() * kRows)),
        w_{.format = format,
           .rows = kRows,
           .cols = kCols,
           .codes = reinterpret_cast<const uint8_t*>(codes_.data()),
           .row_bytes = row_bytes_of(format, kCols),
           .scales = reinterpret_cast<const uint8_t*>(scales_.data()),
           .scale_row_bytes = scale_row_bytes(format)} {
    lane_.arena = &arena_;
    lane_.may_round = false;
  }

  /// Whether `many` takes no longer than `few`: the shortest of a few multiplications each, in turn.
  bool is_faster(int64_t n_rows, const Crossovers::Rows& many, const Crossovers::Rows& few) {
    constexpr int kTurns = 4;
    double best_many = std::numeric_limits<double>::infinity();
    double best_few = best_many;
    for (int turn = 0; turn < kTurns; ++turn) {
      best_few = std::min(best_few, seconds(n_rows, few));
      best_many = std::min(best_many, seconds(n_rows, many));
    }
    return best_many <= best_few;
  }

 private:
  double seconds(int64_t n_rows, const Crossovers::Rows& rows) {
    lane_.crossovers.of[static_cast<size_t>(w_.format)] = rows;
    const auto start = std::chrono::steady_clock::now();
    lane_.ops->linear(lane_,
                      {.w = w_,
                       .x = {.data = x_.data(), .rows = n_rows, .cols = kCols, .stride = kCols},
                       .y = {.data = y_.data(), .rows = n_rows, .cols = kRows, .stride = kRows}});
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  static constexpr int64_t kRows = 64;
  static constexpr int64_t kCols = 1024;

  static int64_t scale_row_bytes(FormatId format) {
    return blocks_of(format, kCols) * scale_bytes_of(format);
  }

  Arena arena_;
  Lane lane_;
  Buffer codes_;
  Buffer scales_;
  std::vector<float> x_;  // [16, kCols]
  std::vector<float> y_;  // [16, kRows]
  WeightView w_;
};

}  // namespace

int32_t least_rows(std::span<const int64_t> tried, const std::function<bool(int64_t)>& is_faster) {
  auto least = static_cast<int32_t>(tried.back() + 1);
  for (auto n = tried.rbegin(); n != tried.rend() && is_faster(*n); ++n)
    least = static_cast<int32_t>(*n);
  return least;
}

Crossovers measure_crossovers(const Lane& lane, std::span<const FormatId> formats) {
  Crossovers measured;
  if (!lane.ops->decodes && !lane.ops->has_tiles) return measured;
  Team team(1);  // it is a core's kernels that are compared; more threads would add their noise
  Lane alone = lane;
  alone.team = &team;
  for (const FormatId format : formats) {
    Trial trial(alone, format);
    Crossovers::Rows& rows = measured.of[static_cast<size_t>(format)];
    rows.decoded = least_rows(kTried, [&](int64_t n) {
      return trial.is_faster(n, {.decoded = 0, .tiles = kNever},
                             {.decoded = kNever, .tiles = kNever});
    });
    if (!lane.ops->has_tiles) continue;
    rows.tiles = least_rows(kTried, [&](int64_t n) {
      return trial.is_faster(n, {.decoded = 0, .tiles = 0},
                             {.decoded = rows.decoded, .tiles = kNever});
    });
  }
  return measured;
}

}  // namespace ft
