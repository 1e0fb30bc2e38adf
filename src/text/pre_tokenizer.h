// The pre-tokenizers of a tokenizer.json, as a flat list of steps that cut a text into words and
// respell them.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "text/pattern.h"

namespace ft {

/// What becomes of the stretches that the pattern of a split matches.
enum class SplitBehaviour {
  kRemoved,
  kIsolated,
  kMergedWithPrevious,
  kMergedWithNext,
  kContiguous
};

struct SplitWords {
  Pattern pattern;
  SplitBehaviour behaviour;
  bool is_inverted;  // the pattern describes what is between the delimiters
};
struct PrefixWords {
  std::string prefix;  // put before each word that does not start with it
  bool only_first;     // only at the very start of the text
};
struct ReplaceInWords {
  Pattern pattern;
  std::string content;
};
struct SpellBytes {};  // each byte by a character, for byte-level vocabularies

using PreTokenizerStep = std::variant<SplitWords, PrefixWords, ReplaceInWords, SpellBytes>;

/// A text that is being cut: words are ranges of it, in order, none empty.
struct Words {
  struct Range {
    size_t begin;
    size_t end;
    bool is_text_start;  // the first word of the whole prompt
  };
  std::string text;
  std::vector<Range> ranges;

  std::string_view word(const Range& range) const {
    return std::string_view(text).substr(range.begin, range.end - range.begin);
  }
};

/// `is_text_start`: nothing of the prompt comes before `text`.
Words pre_tokenize(const std::vector<PreTokenizerStep>& steps, std::string text,
                   bool is_text_start);

}  // namespace ft
