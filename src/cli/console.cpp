// Plain read(2) and write(2): text must show as it is made, and an error must be seen where it
// happens.
#include "cli/console.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/error.h"
#include "base/printable.h"
#include "base/write_all.h"
#include "cli/options.h"
#include "text/utf8.h"

namespace ft {

void print(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error == 0) return;
  if (error == EPIPE) {  // SIGPIPE was ignored when we were started
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
  }
  fail(ErrorKind::kIo, "cannot write to standard output: {}", std::strerror(error));
}

void print_error(std::string_view text) {
  write_all(STDERR_FILENO, text);
}

void print_line(std::string_view text) {
  print_error(fmt::format("ft: {}\n", printable(text, kWholeText)));
}

bool is_input_terminal() {
  return isatty(STDIN_FILENO) == 1;
}

std::string read_input() {
  std::string text;
  std::array<char, 1 << 16> buffer;
  while (true) {
    const ssize_t n = read(STDIN_FILENO, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(ErrorKind::kIo, "cannot read standard input: {}", std::strerror(errno));
    if (n == 0) return text;
    text.append(buffer.data(), static_cast<size_t>(n));
    if (text.size() > kMaxInputBytes) {
      bad_input("standard input has more than {} MiB; give a shorter text", kMaxInputBytes >> 20);
    }
  }
}

std::string words_or_input(const std::string& command, std::span<const std::string> words,
                           bool drops_line_end) {
  if (!words.empty()) {
    std::string text = fmt::format("{}", fmt::join(words, " "));
    if (text.empty()) throw UsageError(command, "the text is empty");
    return text;
  }
  if (is_input_terminal()) {
    throw UsageError(command, "no text: give it as an argument, or send it to standard input");
  }
  std::string text = read_input();
  if (drops_line_end && text.ends_with('\n')) {
    text.pop_back();
    if (text.ends_with('\r')) text.pop_back();
  }
  if (text.empty()) throw UsageError(command, "no argument, and standard input is empty");
  return text;
}

void check_utf8(std::string_view text, std::string_view what) {
  if (const auto offset = find_invalid_utf8(text)) {
    bad_input("{} is not valid UTF-8: byte {} is 0x{:02x}; convert it first", what, *offset,
              static_cast<unsigned char>(text[*offset]));
  }
}

}  // namespace ft
