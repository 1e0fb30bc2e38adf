#include "bench/measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "kernels/ops.h"

namespace ft::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_of(const Work& work, Rig& rig, int64_t n_calls) {
  const auto begin = Clock::now();
  for (int64_t i = 0; i < n_calls; ++i) work.call(rig);
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Calls that take about so many seconds; they warm up what can be warm.
int64_t calls_in(const Work& work, Rig& rig, double seconds) {
  int64_t n_calls = 1;
  double time = seconds_of(work, rig, n_calls);
  while (time < seconds / 8) {
    n_calls *= 2;
    time = seconds_of(work, rig, n_calls);
  }
  return std::max<int64_t>(1, std::llround(static_cast<double>(n_calls) * seconds / time));
}

/// What the machine reaches now. Where the peak is not known, or does not matter, it is 0.
struct Ceiling {
  double read_gbps = 0;
  double peak_gflops = 0;
};

Ceiling ceiling_now(const Work& work, Rig& rig) {
  Ceiling now = {.read_gbps = rig.read_gbps()};
  if (work.multiply_adds > 0) {
    now.peak_gflops = work.partner == Partner::kInt8 ? rig.int8_gflops() : rig.float_gflops();
  }
  return now;
}

struct Samples {
  std::vector<double> ns, gbps, gflops, read_gbps, peak_gflops, share_of_read, share_of_peak;
};

Samples take_samples(const Work& work, Rig& rig, const MeasureOptions& options) {
  Samples s;
  const int64_t n_calls = calls_in(work, rig, options.seconds);
  const bool has_bound = work.bound != Bound::kNone;
  Ceiling before = has_bound ? ceiling_now(work, rig) : Ceiling{};
  for (int i = 0; i < options.n_repetitions; ++i) {
    const double time = seconds_of(work, rig, n_calls) / static_cast<double>(n_calls);
    s.ns.push_back(time * 1e9);
    if (!has_bound) continue;
    const Ceiling after = ceiling_now(work, rig);
    s.gbps.push_back(work.read_bytes / time / 1e9);
    s.gflops.push_back(2 * work.multiply_adds / time / 1e9);
    s.read_gbps.push_back((before.read_gbps + after.read_gbps) / 2);
    s.peak_gflops.push_back((before.peak_gflops + after.peak_gflops) / 2);
    s.share_of_read.push_back(s.gbps.back() / s.read_gbps.back());
    s.share_of_peak.push_back(s.gflops.back() / s.peak_gflops.back());
    before = after;
  }
  return s;
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  const double median =
      values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  return {.median = median, .min = values.front(), .max = values.back()};
}

Result measure(const Case& c, const Work& work, Rig& rig, const MeasureOptions& options) {
  Result result = {.name = c.name, .n_threads = rig.team().n_threads(), .isa = rig.ops().name};
  if (work.measure) {
    std::vector<double> values;
    for (int i = 0; i < options.n_repetitions; ++i) values.push_back(work.measure(rig));
    result.unit = work.unit;
    result.is_more_better = false;
    result.value = spread_of(values);
    return result;
  }
  const Samples s = take_samples(work, rig, options);
  if (work.bound == Bound::kNone) {
    result.unit = "ns";
    result.is_more_better = false;
    result.value = spread_of(s.ns);
    return result;
  }
  result.gbps = spread_of(s.gbps);
  result.read_gbps = spread_of(s.read_gbps);
  result.share_of_read = spread_of(s.share_of_read);
  result.gflops = spread_of(s.gflops);
  if (s.peak_gflops.front() > 0) {
    result.peak_gflops = spread_of(s.peak_gflops);
    result.share_of_peak = spread_of(s.share_of_peak);
  }
  const bool is_read = work.bound == Bound::kRead;
  result.unit = is_read ? "GB/s" : "GFLOP/s";
  result.value = is_read ? *result.gbps : *result.gflops;
  result.share = is_read ? result.share_of_read : result.share_of_peak;
  return result;
}

// Without the two lines of assembler nothing would be left of these functions as such: one would end
// in a jump, the other would be empty.
[[gnu::noinline]] void counted_call(const Work& work, Rig& rig) {
  work.call(rig);
  asm volatile("" ::: "memory");
}

[[gnu::noinline]] void end_of_counted_call() {
  asm volatile("" ::: "memory");
}

}  // namespace ft::bench
