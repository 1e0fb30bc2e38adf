// The lines that were typed at a prompt, kept for the next start: one a line, oldest first.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ft {

/// What somebody asked a model is nobody else's business: the file is the user's alone. Several
/// programs may append at the same time. A file or folder that cannot be read or written costs the
/// history and nothing else.
class HistoryFile {
 public:
  /// `path`: "" for none.
  explicit HistoryFile(std::string path) : path_(std::move(path)) {}

  /// The last `n_most` lines that are UTF-8. A file that has become long is cut down to them.
  std::vector<std::string> read(size_t n_most) const;

  /// `line` has no line end in it.
  void append(const std::string& line) const;

 private:
  std::string path_;
};

/// $XDG_STATE_HOME/freetoken/history or ~/.local/state/freetoken/history; "" where neither variable
/// is set.
std::string history_path();

}  // namespace ft
