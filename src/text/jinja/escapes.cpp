// String literals: \n, \x41, \u00e9, \101 and the rest.
#include "text/jinja/escapes.h"

#include <fmt/format.h>

#include "text/utf8.h"

namespace ft::jinja {

namespace {

class EscapeReader {
 public:
  EscapeReader(std::string_view literal, std::string& problem)
      : literal_(literal), problem_(problem) {}

  std::string run() {
    while (position_ < literal_.size() && problem_.empty()) {
      char c = literal_[position_++];
      if (c == '\\' && position_ < literal_.size()) {
        escape();
      } else {
        value_ += c;
      }
    }
    return std::move(value_);
  }

 private:
  void escape() {
    constexpr std::string_view kNames = "\\'\"abfnrtv";
    constexpr std::string_view kValues = "\\'\"\a\b\f\n\r\t\v";
    char name = literal_[position_];
    if (size_t which = kNames.find(name); which != std::string_view::npos) {
      ++position_;
      value_ += kValues[which];
    } else if (name == '\n') {
      ++position_;  // a line that goes on
    } else if (name == 'x' || name == 'u' || name == 'U') {
      ++position_;
      hexadecimal(name, name == 'x' ? 2 : name == 'u' ? 4 : 8);
    } else if (name >= '0' && name <= '7') {
      octal();
    } else if (name == 'N') {
      problem_ = "characters by name (\\N{...}) are not supported; write \\u and the code point";
    } else {
      unknown();
    }
  }

  void hexadecimal(char name, size_t n_digits) {
    uint32_t c = 0;
    for (size_t i = 0; i < n_digits; ++i) {
      int digit = position_ < literal_.size() ? hex_digit(literal_[position_]) : -1;
      if (digit < 0) {
        problem_ = fmt::format("\\{} needs {} hexadecimal digits", name, n_digits);
        return;
      }
      c = c << 4 | static_cast<uint32_t>(digit);
      ++position_;
    }
    if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) {
      problem_ = fmt::format("U+{:04X} is not a character", c);
      return;
    }
    append_code_point(value_, c);
  }

  void octal() {
    uint32_t c = 0;
    for (int i = 0; i < 3 && position_ < literal_.size(); ++i, ++position_) {
      char digit = literal_[position_];
      if (digit < '0' || digit > '7') break;
      c = c * 8 + static_cast<uint32_t>(digit - '0');
    }
    append_code_point(value_, c);
  }

  // An unknown escape stays as it is. The reference reads the literal as ASCII with other
  // characters spelled out, so behind a backslash that spelling shows.
  void unknown() {
    value_ += '\\';
    uint32_t c = next_code_point(literal_, position_);
    if (c < 0x80) {
      value_ += static_cast<char>(c);
    } else if (c < 0x100) {
      value_ += fmt::format("x{:02x}", c);
    } else {
      value_ += c < 0x10000 ? fmt::format("u{:04x}", c) : fmt::format("U{:08x}", c);
    }
  }

  std::string_view literal_;
  std::string& problem_;
  std::string value_;
  size_t position_ = 0;
};

}  // namespace

std::string resolve_escapes(std::string_view literal, std::string& problem) {
  return EscapeReader(literal, problem).run();
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace ft::jinja
