// Template source to tokens, with the white-space rules of trim_blocks and lstrip_blocks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ft::jinja {

enum class TokenKind : uint8_t {
  kData,           // text between tags
  kVariableBegin,  // {{
  kVariableEnd,
  kBlockBegin,  // {%
  kBlockEnd,
  kName,
  kString,  // text holds the value, escapes resolved
  kInteger,
  kFloat,
  kOperator,  // text holds its spelling
  kEnd,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;
  int64_t integer = 0;
  double number = 0;
  int line = 0;
  int column = 0;  // in bytes, from 1

  bool is_operator(std::string_view spelling) const {
    return kind == TokenKind::kOperator && text == spelling;
  }
  bool is_name(std::string_view name) const { return kind == TokenKind::kName && text == name; }
};

/// The last token is kEnd. Errors: kBadInput with line and column for text that no token starts
/// with, and for a comment, a raw block or a string without end.
std::vector<Token> tokenize(std::string_view source, std::string_view where);

/// Throws kBadInput: "where:line:column: text".
[[noreturn]] void syntax_error(std::string_view where, const Token& token, std::string_view text);

}  // namespace ft::jinja
