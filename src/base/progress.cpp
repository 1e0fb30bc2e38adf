// Drawing of the progress line.
#include "base/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/units.h"
#include "base/write_all.h"

namespace ft {
namespace {

constexpr double kQuietSeconds = 1;
constexpr double kRedrawSeconds = 0.25;
constexpr double kPlainSeconds = 10;

size_t terminal_width(int fd) {
  winsize size{};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
}

}  // namespace

std::string progress_text(std::string_view what, uint64_t done_bytes, uint64_t total_bytes,
                          double seconds) {
  std::string text = fmt::format("{}: {}", what, format_bytes(done_bytes));
  if (total_bytes > 0) text += fmt::format(" of {}", format_bytes(total_bytes));
  if (!(seconds > 0) || done_bytes == 0) return text;
  const double bytes_per_s = static_cast<double>(done_bytes) / seconds;
  text += fmt::format(", {:.2f} GB/s", bytes_per_s / 1e9);
  if (total_bytes > done_bytes) {
    const double left = static_cast<double>(total_bytes - done_bytes) / bytes_per_s;
    text += fmt::format(", {} left", format_seconds(left));
  }
  return text;
}

ProgressLine::ProgressLine(std::string what, int fd)
    : what_(std::move(what)),
      fd_(fd),
      is_terminal_(isatty(fd) == 1),
      next_seconds_(is_terminal_ ? kQuietSeconds : kPlainSeconds) {}

ProgressLine::~ProgressLine() {
  finish();
}

void ProgressLine::update(uint64_t done_bytes, uint64_t total_bytes, double seconds) {
  if (seconds < next_seconds_) return;
  next_seconds_ = seconds + (is_terminal_ ? kRedrawSeconds : kPlainSeconds);
  std::string text = progress_text(what_, done_bytes, total_bytes, seconds);
  // A failure to write is none of the work: what write_all() returns is of no interest here.
  if (is_terminal_) {
    text.resize(
        std::min(text.size(), terminal_width(fd_) - 1));  // a wrapped line cannot be redrawn
    write_all(fd_, "\r\x1b[K" + text);
    is_drawn_ = true;
  } else {
    write_all(fd_, text + "\n");
  }
}

void ProgressLine::finish() {
  if (is_drawn_) write_all(fd_, "\r\x1b[K");
  is_drawn_ = false;
}

}  // namespace ft
