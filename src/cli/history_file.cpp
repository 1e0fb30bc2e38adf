// Each line is appended by one write(2), so that two shells do not lose each other's lines, but for
// those of the moment in which a long file is cut.
#include "cli/history_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file_map.h"
#include "base/write_all.h"
#include "text/utf8.h"

namespace ft {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kLongFileBytes = 4 << 20;
constexpr uint64_t kMaxFileBytes = 256 << 20;

/// Writes `text` to a file of the user's own; false if that failed.
bool write_private(const std::string& path, int flags, std::string_view text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);
  if (fd < 0) return false;
  const bool is_written = write_all(fd, text) == 0;
  return close(fd) == 0 && is_written;
}

std::string read_all(const std::string& path) {
  std::error_code error;
  if (path.empty() || !fs::is_regular_file(path, error)) return "";
  try {
    return read_text_file(path, kMaxFileBytes);
  } catch (const Error&) {
    return "";
  }
}

}  // namespace

std::vector<std::string> HistoryFile::read(size_t n_most) const {
  const std::string text = read_all(path_);
  std::vector<std::string> lines;  // newest first
  std::string_view rest = text;
  while (!rest.empty() && lines.size() < n_most) {
    rest.remove_suffix(rest.ends_with('\n') ? 1 : 0);
    const size_t begin = rest.rfind('\n') + 1;  // 0 where there is none
    const std::string_view line = rest.substr(begin);
    if (!line.empty() && !find_invalid_utf8(line)) lines.emplace_back(line);
    rest = rest.substr(0, begin);
  }
  std::reverse(lines.begin(), lines.end());
  if (text.size() > kLongFileBytes) {
    const std::string shorter = path_ + ".new";
    std::error_code error;
    if (write_private(shorter, O_TRUNC, fmt::format("{}\n", fmt::join(lines, "\n")))) {
      fs::rename(shorter, path_, error);
    }
  }
  return lines;
}

void HistoryFile::append(const std::string& line) const {
  if (path_.empty()) return;
  std::error_code error;
  fs::create_directories(fs::path(path_).parent_path(), error);
  write_private(path_, O_APPEND, line + "\n");
}

std::string history_path() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') return std::string(state) + "/freetoken/history";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home != '\0') {
    return std::string(home) + "/.local/state/freetoken/history";
  }
  return "";
}

}  // namespace ft
