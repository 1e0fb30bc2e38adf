// What a tokenizer.json calls a pattern: a regular expression in Oniguruma's syntax, or a plain
// string.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct re_pattern_buffer;  // Oniguruma's compiled expression

namespace ft {

/// Immutable after construction, so threads can share one.
class Pattern {
 public:
  struct Match {
    size_t begin;
    size_t end;
  };

  /// `where` names the place in the file for messages, also those of later searches. Errors:
  /// kBadInput for an expression that does not compile or is too long.
  static Pattern regex(const std::string& expression, const std::string& where);
  static Pattern literal(const std::string& text, const std::string& where);

  /// All matches in `text`, from left to right; an empty match right behind another match is passed
  /// over. Errors: kBadInput if the expression backtracks out of proportion to the text.
  std::vector<Match> find_all(std::string_view text) const;

  /// `text` with each match replaced by `content`, which is taken literally.
  std::string replace_all(std::string_view text, std::string_view content) const;

 private:
  struct Free {
    void operator()(re_pattern_buffer* expression) const;
  };
  Pattern(std::unique_ptr<re_pattern_buffer, Free> expression, std::string where)
      : expression_(std::move(expression)), where_(std::move(where)) {}
  static Pattern compile(const std::string& source, bool is_literal, const std::string& where);

  std::unique_ptr<re_pattern_buffer, Free> expression_;
  std::string where_;
};

}  // namespace ft
