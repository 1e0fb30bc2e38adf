// A line on standard error for long work: bytes, rate, time left.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ft {

/// "loading: 3.20 of 61.4 GB, 2.10 GB/s, 28 s left". `seconds` since the work began; the rate is
/// the mean since then.
std::string progress_text(std::string_view what, uint64_t done_bytes, uint64_t total_bytes,
                          double seconds);

/// On a terminal one line that is redrawn four times a second and wiped at the end; elsewhere a
/// plain line every ten seconds. Work that takes less than a second shows nothing. Used by one
/// thread at a time.
class ProgressLine {
 public:
  explicit ProgressLine(std::string what, int fd = 2);
  ~ProgressLine();  // as finish()
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Cheap; call it as often as you like. `seconds` since the work began.
  void update(uint64_t done_bytes, uint64_t total_bytes, double seconds);

  /// Wipes the line, so that other text can follow; a later update draws it again.
  void finish();

 private:
  std::string what_;
  int fd_;
  bool is_terminal_;
  bool is_drawn_ = false;
  double next_seconds_;
};

}  // namespace ft
