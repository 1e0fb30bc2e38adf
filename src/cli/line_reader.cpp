// libedit on a terminal; read(2) elsewhere.
#include "cli/line_reader.h"

#include <histedit.h>
#include <langinfo.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstring>
#include <cwchar>
#include <utility>

#include "base/error.h"
#include "cli/console.h"
#include "cli/history_file.h"
#include "cli/interrupt.h"

namespace ft {
namespace {

constexpr int kHistoryLines = 1000;

/// Reads a character for libedit. Its own reader tries again after a signal, so that a first Ctrl-C
/// would go unheard.
int read_character(EditLine* editor, wchar_t* character) {
  mbstate_t state{};
  while (true) {
    char byte = 0;
    if (Interrupts::is_set()) return -1;
    const ssize_t n = read(STDIN_FILENO, &byte, 1);
    if (n == 0) return 0;
    if (n < 0) {
      if (errno != EINTR) return -1;
      // Ctrl-C, or the window changed its size, or we were stopped and continued.
      if (!Interrupts::is_set()) el_set(editor, EL_REFRESH);
      continue;
    }
    const size_t length = std::mbrtowc(character, &byte, 1, &state);
    if (length == static_cast<size_t>(-1)) {  // no character: start anew with the next byte
      state = {};
      continue;
    }
    if (length != static_cast<size_t>(-2)) return 1;
  }
}

class TerminalReader : public LineReader {
 public:
  TerminalReader() : history_file_(history_path()), history_(history_init()) {
    editor_ = el_init("ft", stdin, stdout, stderr);
    if (editor_ == nullptr || history_ == nullptr) {
      fail(ErrorKind::kIo,
           "the terminal cannot be set up for editing; send lines to standard input");
    }
    HistEvent event;
    history(history_, &event, H_SETSIZE, kHistoryLines);
    history(history_, &event, H_SETUNIQUE, 1);
    for (const std::string& line : history_file_.read(kHistoryLines)) {
      history(history_, &event, H_ENTER, line.c_str());
    }
    el_set(editor_, EL_CLIENTDATA, this);
    el_set(editor_, EL_PROMPT, &TerminalReader::prompt_of);
    el_set(editor_, EL_EDITOR, "emacs");
    el_set(editor_, EL_SIGNAL, 1);
    el_set(editor_, EL_HIST, history, history_);
    el_set(editor_, EL_GETCFN, read_character);
    el_set(editor_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
    el_source(editor_, nullptr);  // the user's own ~/.editrc
  }

  ~TerminalReader() override {
    el_end(editor_);
    history_end(history_);
  }

  Result read_line(const std::string& prompt, std::string& line) override {
    prompt_ = prompt;
    int n = 0;
    const char* text = el_gets(editor_, &n);
    line = text != nullptr && n > 0 ? std::string(text, static_cast<size_t>(n)) : "";
    // Ctrl-C behind a whole line is meant for what the line causes.
    if (line.ends_with('\n')) {
      line.pop_back();
      return Result::kLine;
    }
    if (line.empty() || Interrupts::is_set()) print("\n");
    if (Interrupts::is_set()) return Result::kInterrupted;
    return line.empty() ? Result::kEnd : Result::kLine;
  }

  void remember(const std::string& line) override {
    HistEvent event;
    history(history_, &event, H_ENTER, line.c_str());
    history_file_.append(line);
  }

 private:
  static char* prompt_of(EditLine* editor) {
    TerminalReader* self = nullptr;
    el_get(editor, EL_CLIENTDATA, &self);
    return self->prompt_.data();
  }

  HistoryFile history_file_;
  History* history_;
  EditLine* editor_;
  std::string prompt_;
};

class PlainReader : public LineReader {
 public:
  Result read_line(const std::string&, std::string& line) override {
    size_t n_searched = begin_;
    while (true) {
      if (const size_t end = buffer_.find('\n', n_searched); end != std::string::npos) {
        line = buffer_.substr(begin_, end - begin_);
        begin_ = end + 1;
        if (line.ends_with('\r')) line.pop_back();
        return Result::kLine;
      }
      buffer_.erase(0, std::exchange(begin_, 0));
      n_searched = buffer_.size();
      if (n_searched > kMaxInputBytes) {
        bad_input("a line has more than {} MiB; give a shorter one", kMaxInputBytes >> 20);
      }
      char bytes[1 << 16];
      const ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
      if (n > 0) {
        buffer_.append(bytes, static_cast<size_t>(n));
      } else if (n < 0 && errno == EINTR) {
        if (Interrupts::is_set()) return Result::kInterrupted;
      } else if (n < 0) {
        fail(ErrorKind::kIo, "cannot read standard input: {}", std::strerror(errno));
      } else {
        line = std::exchange(buffer_, "");
        return line.empty() ? Result::kEnd : Result::kLine;
      }
    }
  }

  void remember(const std::string&) override {}

 private:
  std::string buffer_;
  size_t begin_ = 0;  // of the first line that was not handed out
};

}  // namespace

std::unique_ptr<LineReader> LineReader::open() {
  if (!is_input_terminal() || isatty(STDOUT_FILENO) != 1) return std::make_unique<PlainReader>();
  std::setlocale(LC_CTYPE, "");
  if (std::strcmp(nl_langinfo(CODESET), "UTF-8") != 0) std::setlocale(LC_CTYPE, "C.UTF-8");
  return std::make_unique<TerminalReader>();
}

}  // namespace ft
