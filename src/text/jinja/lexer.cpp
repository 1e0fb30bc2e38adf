// The lexer of templates: text, comments and raw blocks outside of tags, tokens inside.
#include "text/jinja/lexer.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/error.h"
#include "text/jinja/escapes.h"
#include "text/jinja/unicode.h"
#include "text/utf8.h"

namespace ft::jinja {

namespace {

constexpr size_t kNone = std::string_view::npos;

bool is_ascii_digit(char c) {
  return c >= '0' && c <= '9';
}

// Line ends become "\n"; one at the very end is dropped.
std::string normalize(std::string_view source) {
  std::string text;
  text.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r' && i + 1 < source.size() && source[i + 1] == '\n') ++i;
    text += source[i] == '\r' ? '\n' : source[i];
  }
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

class Lexer {
 public:
  Lexer(std::string_view source, std::string_view where)
      : normalized_(normalize(source)), source_(normalized_), where_(where) {}

  std::vector<Token> run() {
    while (position_ < source_.size()) lex_outside();
    add(TokenKind::kEnd, "");
    return std::move(tokens_);
  }

 private:
  char at(size_t i) const { return i < source_.size() ? source_[i] : '\0'; }
  bool looking_at(std::string_view text) const {
    return source_.substr(position_).starts_with(text);
  }

  // Moves to `end` and counts lines. Tokens get the place where they begin.
  void advance_to(size_t end) {
    for (; position_ < end; ++position_) {
      if (source_[position_] != '\n') continue;
      ++line_;
      line_begin_ = position_ + 1;
    }
  }

  Token& add(TokenKind kind, std::string_view text) {
    Token token;
    token.kind = kind;
    token.text = text;
    token.line = line_;
    token.column = static_cast<int>(position_ - line_begin_) + 1;
    return tokens_.emplace_back(std::move(token));
  }

  [[noreturn]] void fail_here(std::string_view text) {
    syntax_error(where_, add(TokenKind::kEnd, ""), text);
  }

  void add_data(std::string_view text) {
    if (!text.empty()) add(TokenKind::kData, text);
  }

  // `text` in front of a tag with `sign` behind its first two characters, as far as it is printed.
  std::string_view strip_before(std::string_view text, char sign, bool is_variable) const {
    if (sign == '-') return text.substr(0, trim_space_end(text, text.size()));
    if (sign == '+' || is_variable) return text;
    size_t line = text.rfind('\n') + 1;  // 0 without a line end
    if (line == 0 && !is_line_start_) return text;
    return skip_space(text, line) == text.size() ? text.substr(0, line) : text;
  }

  size_t find_tag() const {
    for (size_t at_brace = source_.find('{', position_); at_brace != kNone;
         at_brace = source_.find('{', at_brace + 1)) {
      char next = at(at_brace + 1);
      if (next == '%' || next == '{' || next == '#') return at_brace;
    }
    return kNone;
  }

  void lex_outside() {
    size_t begin = find_tag();
    if (begin == kNone) {
      add_data(source_.substr(position_));
      advance_to(source_.size());
      return;
    }
    char kind = at(begin + 1);
    char sign = at(begin + 2);
    if (sign != '-' && sign != '+') sign = '\0';
    add_data(strip_before(source_.substr(position_, begin - position_), sign, kind == '{'));
    advance_to(begin);
    size_t inside = begin + (sign ? 3 : 2);
    if (kind == '#') {
      lex_comment(inside);
    } else if (size_t end = raw_begin_end(inside); kind == '%' && end != kNone) {
      lex_raw(end);
    } else {
      add(kind == '%' ? TokenKind::kBlockBegin : TokenKind::kVariableBegin, "");
      advance_to(inside);
      lex_tag(kind == '%' ? "%}" : "}}");
    }
  }

  // The end of a tag that closes at `end` ("%}"): a minus strips what follows, otherwise a block
  // eats one line end.
  size_t after_close(size_t end, char sign, bool is_block) const {
    if (sign == '-') return skip_space(source_, end + 2);
    return end + 2 + (is_block && sign != '+' && at(end + 2) == '\n' ? 1 : 0);
  }

  void leave_tag(size_t end) {
    is_line_start_ = source_[end - 1] == '\n';
    advance_to(end);
  }

  void lex_comment(size_t inside) {
    size_t close = source_.find("#}", inside);
    if (close == kNone) fail_here("this comment has no end; '#}' closes it");
    leave_tag(after_close(close, close > inside ? at(close - 1) : '\0', true));
  }

  // `{% raw %}`: the position behind it, or none. `inside` is behind the "{%" and its sign.
  size_t raw_begin_end(size_t inside) const {
    size_t i = skip_space(source_, inside);
    if (source_.substr(i, 3) != "raw") return kNone;
    i = skip_space(source_, i + 3);
    if (source_.substr(i, 3) == "-%}") return skip_space(source_, i + 3);
    return source_.substr(i, 2) == "%}" ? i + 2 : kNone;
  }

  // Whether the tag at `open` is an endraw; if so `end` is the position behind it.
  bool is_endraw(size_t open, char& sign, size_t& end) const {
    sign = at(open + 2);
    size_t i = skip_space(source_, open + (sign == '-' || sign == '+' ? 3 : 2));
    if (source_.substr(i, 6) != "endraw") return false;
    i = skip_space(source_, i + 6);
    char close_sign = at(i);
    if (close_sign == '-' || close_sign == '+') ++i;
    if (source_.substr(i, 2) != "%}") return false;
    end = after_close(i, close_sign, true);
    return true;
  }

  void lex_raw(size_t inside) {
    char sign = '\0';
    size_t end = 0;
    size_t open = source_.find("{%", inside);
    while (open != kNone && !is_endraw(open, sign, end)) open = source_.find("{%", open + 2);
    if (open == kNone) fail_here("this raw block has no end; '{% endraw %}' closes it");
    leave_tag(inside);
    add_data(strip_before(source_.substr(inside, open - inside), sign, false));
    leave_tag(end);
  }

  // Tokens up to the closing delimiter.
  void lex_tag(std::string_view close) {
    bool is_block = close == "%}";
    std::string open_brackets;
    while (true) {
      advance_to(skip_space(source_, position_));
      if (position_ >= source_.size()) fail_here(fmt::format("'{}' is missing", close));
      if (open_brackets.empty()) {
        char sign = at(position_);
        bool is_signed = sign == '-' || (is_block && sign == '+');
        size_t end = position_ + (is_signed ? 1 : 0);
        if (source_.substr(end, 2) == close) {
          add(is_block ? TokenKind::kBlockEnd : TokenKind::kVariableEnd, close);
          return leave_tag(after_close(end, is_signed ? sign : '\0', is_block));
        }
      }
      lex_token(open_brackets);
    }
  }

  void lex_token(std::string& open_brackets) {
    if (is_ascii_digit(at(position_))) return lex_number();
    if (size_t end = name_end(); end > position_) return take(TokenKind::kName, end);
    if (looking_at("'") || looking_at("\"")) return lex_string();
    constexpr std::array<std::string_view, 26> kOperators = {
        "//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[",
        "]",  "(",  ")",  "{",  "}",  ">",  "<", "=", ".", ":", "|", ",", ";"};
    for (std::string_view spelling : kOperators) {
      if (!looking_at(spelling)) continue;
      balance(spelling, open_brackets);
      return take(TokenKind::kOperator, position_ + spelling.size());
    }
    size_t end = position_;
    next_code_point(source_, end);
    fail_here(fmt::format("unexpected '{}'", source_.substr(position_, end - position_)));
  }

  void balance(std::string_view spelling, std::string& open_brackets) {
    constexpr std::string_view kOpen = "([{", kClose = ")]}";
    if (size_t which = kOpen.find(spelling); which != kNone) open_brackets += kClose[which];
    if (kClose.find(spelling) == kNone) return;
    if (open_brackets.empty()) fail_here(fmt::format("unexpected '{}'", spelling));
    if (open_brackets.back() != spelling[0]) {
      fail_here(fmt::format("unexpected '{}', expected '{}'", spelling, open_brackets.back()));
    }
    open_brackets.pop_back();
  }

  void take(TokenKind kind, size_t end) {
    add(kind, source_.substr(position_, end - position_));
    advance_to(end);
  }

  size_t name_end() const {
    size_t end = position_;
    while (end < source_.size()) {
      size_t after = end;
      uint32_t c = next_code_point(source_, after);
      if (c != '_' && !is_alpha(c) && !is_decimal(c)) break;
      end = after;
    }
    return end;
  }

  // Digits with single underscores between them; `begin` if there is none.
  template <typename IsDigit>
  size_t digits_end(size_t begin, IsDigit is_a_digit) const {
    size_t end = begin;
    while (is_a_digit(at(end)) || (end > begin && at(end) == '_' && is_a_digit(at(end + 1)))) ++end;
    return end;
  }

  // The end of a float at position_, or position_.
  size_t float_end() const {
    if (position_ > 0 && source_[position_ - 1] == '.') return position_;
    size_t whole = digits_end(position_, is_ascii_digit);
    size_t end = whole;
    if (at(end) == '.' && is_ascii_digit(at(end + 1))) end = digits_end(end + 1, is_ascii_digit);
    if (at(end) == 'e' || at(end) == 'E') {
      size_t power = end + (at(end + 1) == '+' || at(end + 1) == '-' ? 2 : 1);
      if (is_ascii_digit(at(power))) return digits_end(power, is_ascii_digit);
    }
    return end == whole ? position_ : end;
  }

  void lex_number() {
    auto without_underscores = [&](size_t begin, size_t end) {
      std::string digits(source_.substr(begin, end - begin));
      std::erase(digits, '_');
      return digits;
    };
    if (size_t end = float_end(); end > position_) {
      std::string digits = without_underscores(position_, end);
      Token& token = add(TokenKind::kFloat, digits);
      auto result = std::from_chars(digits.data(), digits.data() + digits.size(), token.number);
      if (result.ec != std::errc()) token.number = std::strtod(digits.c_str(), nullptr);
      return advance_to(end);
    }
    auto [base, begin, end] = integer_range();
    std::string digits = without_underscores(begin, end);
    Token& token = add(TokenKind::kInteger, digits);
    auto result =
        std::from_chars(digits.data(), digits.data() + digits.size(), token.integer, base);
    if (result.ec != std::errc()) {
      syntax_error(where_, token, fmt::format("the integer {} does not fit in 64 bits", digits));
    }
    advance_to(end);
  }

  struct IntegerRange {
    int base;
    size_t begin;
    size_t end;
  };

  IntegerRange integer_range() const {
    if (at(position_) != '0') return {10, position_, digits_end(position_, is_ascii_digit)};
    char letter = static_cast<char>(at(position_ + 1) | 0x20);
    int base = letter == 'b' ? 2 : letter == 'o' ? 8 : letter == 'x' ? 16 : 0;
    if (base != 0) {
      auto is_base_digit = [base](char c) { return hex_digit(c) >= 0 && hex_digit(c) < base; };
      size_t begin = position_ + 2 + (at(position_ + 2) == '_' ? 1 : 0);
      size_t end = digits_end(begin, is_base_digit);
      if (end > begin) return {base, begin, end};
    }
    return {10, position_, digits_end(position_, [](char c) { return c == '0'; })};
  }

  void lex_string() {
    char quote = at(position_);
    size_t end = position_ + 1;
    while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size()) fail_here("this string has no end");
    Token& token = add(TokenKind::kString, "");
    std::string problem;
    token.text = resolve_escapes(source_.substr(position_ + 1, end - position_ - 1), problem);
    if (!problem.empty()) syntax_error(where_, token, problem);
    advance_to(end + 1);
  }

  std::string normalized_;
  std::string_view source_;
  std::string_view where_;
  std::vector<Token> tokens_;
  size_t position_ = 0;
  size_t line_begin_ = 0;
  int line_ = 1;
  bool is_line_start_ = true;  // the last tag ended with a line end, or there was none
};

}  // namespace

std::vector<Token> tokenize(std::string_view source, std::string_view where) {
  return Lexer(source, where).run();
}

void syntax_error(std::string_view where, const Token& token, std::string_view text) {
  bad_input("{}:{}:{}: {}", where, token.line, token.column, text);
}

}  // namespace ft::jinja
