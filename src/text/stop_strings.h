// Where a reply ends by its text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ft {

/// Lets text through up to the first stop string, the one that is complete first, and holds back
/// what could be the beginning of one. How the text is cut into pieces makes no difference.
class StopStrings {
 public:
  explicit StopStrings(std::vector<std::string> strings);  // empty strings are ignored

  /// The part of the text that is safe to show. After a match nothing more comes out.
  std::string push(std::string_view text);
  std::string finish();  // what was held back, if nothing matched
  bool is_stopped() const { return is_stopped_; }

 private:
  // A stop string and how much of it the text seen so far ends with.
  struct Stop {
    std::string text;
    std::vector<size_t>
        fallback;  // of a start of n bytes: the longest shorter start that it ends with
    size_t n_matched = 0;
    bool advance(char byte);  // whether the string is complete
  };

  std::vector<Stop> stops_;
  std::string held_;  // the longest start of a stop string at the end of the text
  bool is_stopped_ = false;
};

}  // namespace ft
