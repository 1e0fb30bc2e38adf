// Ids to text as they come, never half a character; and the stop strings of a request.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ft {

class DecodeStream;
class Tokenizer;

/// Joined outputs of push() and finish() equal Tokenizer::decode of the same ids, for every
/// sequence of ids. Time and memory go with the ids, not with their square. A run of byte-fallback
/// tokens is held back until it ends, since the reference gives up all of a run that is not valid
/// UTF-8 as a whole.
class Detokenizer {
 public:
  Detokenizer(const Tokenizer& tokenizer,
              bool skip_special);  // `tokenizer` must outlive it and not be moved
  Detokenizer(Detokenizer&&) noexcept;
  Detokenizer& operator=(Detokenizer&&) noexcept;
  ~Detokenizer();

  /// The text that this id completes; may be empty. Whole characters.
  std::string push(int32_t id);

  /// What is left; an incomplete character becomes U+FFFD. Nothing may be pushed after it.
  std::string finish();

 private:
  const Tokenizer* tokenizer_;
  bool skip_special_;
  std::unique_ptr<DecodeStream> stream_;
};

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
