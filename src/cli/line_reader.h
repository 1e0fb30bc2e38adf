// Lines that a person types, with editing and history, or plain lines from a pipe.
#pragma once

#include <memory>
#include <string>

namespace ft {

class LineReader {
 public:
  enum class Result { kLine, kEnd, kInterrupted };

  virtual ~LineReader() = default;

  /// Reads one line, without its end, into `line`. `prompt` shows on a terminal only. kEnd: Ctrl-D
  /// or the end of the input; kInterrupted: Ctrl-C, which needs an Interrupts to live. Errors: kIo;
  /// kBadInput for a line above kMaxInputBytes.
  virtual Result read_line(const std::string& prompt, std::string& line) = 0;

  /// Keeps a line for the arrow keys, and for the next start where that is possible.
  virtual void remember(const std::string& line) = 0;

  /// With editing and history if standard input and output are a terminal, else plain. Sets the
  /// locale's characters to UTF-8.
  static std::unique_ptr<LineReader> open();
};

}  // namespace ft
