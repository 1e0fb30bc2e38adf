// The spelling of sizes, counts and times.
#include "base/units.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace ft {

std::string format_bytes(uint64_t n_bytes) {
  if (n_bytes < 1000) return fmt::format("{} bytes", n_bytes);
  const char* unit = "kB";
  double value = static_cast<double>(n_bytes) / 1e3;
  for (const char* larger : {"MB", "GB"}) {
    if (value < 999.5) break;
    value /= 1e3;
    unit = larger;
  }
  const int n_decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, n_decimals, unit);
}

std::string format_count(int64_t n) {
  std::string digits = fmt::format("{}", n);
  const size_t first = n < 0 ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string format_seconds(double seconds) {
  if (!(seconds > 0)) seconds = 0;
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const int64_t s = std::llround(std::min(seconds, 1e9));
  if (s < 120) return fmt::format("{} s", s);
  if (s < 7200) return fmt::format("{} min {} s", s / 60, s % 60);
  return fmt::format("{} h {} min", s / 3600, s / 60 % 60);
}

}  // namespace ft
