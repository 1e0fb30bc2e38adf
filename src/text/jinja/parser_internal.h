// The parser's two halves share this: expressions (parse_expr.cpp) and statements
// (parser.cpp).
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja/ast.h"
#include "text/jinja/lexer.h"

namespace ft::jinja {

/// The tokens, a position in them, and how deep the parser is.
class TokenReader {
 public:
  TokenReader(std::vector<Token> tokens, std::string_view where)
      : tokens_(std::move(tokens)), where_(where) {}

  const Token& peek(size_t ahead = 0) const;
  const Token& take();
  bool skip_operator(std::string_view spelling);
  bool skip_name(std::string_view name);
  const Token& expect(TokenKind kind, std::string_view what);
  void expect_operator(std::string_view spelling);
  void expect_name(std::string_view name);
  [[noreturn]] void fail(std::string_view text) const { fail_at(peek(), text); }
  [[noreturn]] void fail_at(const Token& token, std::string_view text) const;
  [[noreturn]] void refuse(const Token& token, std::string_view what) const;

 private:
  friend class Nesting;
  static constexpr int kMaxNesting = 64;
  std::vector<Token> tokens_;
  std::string_view where_;
  size_t position_ = 0;
  int nesting_ = 0;
};

/// One level of nesting in the source, for as long as it lives. Errors: kBadInput at the limit.
class Nesting {
 public:
  explicit Nesting(TokenReader& reader) : reader_(reader) {
    if (reader_.nesting_ == TokenReader::kMaxNesting) {
      reader_.fail("this is nested too deeply (more than 64 levels)");
    }
    ++reader_.nesting_;
  }
  ~Nesting() { --reader_.nesting_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  TokenReader& reader_;
};

class ExprParser {
 public:
  explicit ExprParser(TokenReader& reader) : in_(reader) {}

  ExprPtr parse_expression();
  ExprPtr parse_without_condition();
  /// One expression, or several with commas between them: a tuple. `end_name` ends it.
  ExprPtr parse_tuple(bool with_condition, std::string_view end_name = {});
  /// `a`, `a, b`, `(a, (b, c))`; with `allows_attribute` also `namespace.attribute`.
  Target parse_target(bool allows_attribute);
  /// `name(args)|name ...`; the first name has no bar in front if `is_started`.
  std::vector<Step> parse_filters(bool is_started);

  /// What the macros under construction use of the names that are made only if used.
  struct Usage {
    bool varargs = false, kwargs = false, caller = false;
  };
  std::vector<Usage> usages;
  /// Above 0 inside of an if: an unknown filter is an Error only when it is reached.
  int n_soft = 0;
  /// Errors: kBadInput for the first filter or test outside of any condition that does not exist.
  void require_known_names() const;

 private:
  ExprPtr parse_binary(int precedence);
  ExprPtr parse_operand(int precedence);
  ExprPtr parse_unary(bool with_filters);
  ExprPtr parse_primary();
  ExprPtr parse_name(const Token& token);
  ExprPtr parse_strings();
  ExprPtr parse_list();
  ExprPtr parse_dict();
  ExprPtr parse_parentheses();
  ExprPtr parse_postfix(ExprPtr base);
  ExprPtr parse_filters_and_tests(ExprPtr base);
  Step parse_attribute();
  Step parse_subscript();
  ExprPtr parse_slice_part();
  Step parse_filter();
  Step parse_test();
  ArgsExpr parse_arguments();
  void parse_argument(ArgsExpr& args, const Token& open);
  std::string parse_dotted_name();
  Target parse_target_item();

  void note_name(const Token& token, std::string_view what, bool is_known);

  TokenReader& in_;
  std::vector<std::pair<const Token*, std::string>> unknown_;  // where, and the message
};

}  // namespace ft::jinja
