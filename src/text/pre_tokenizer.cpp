// A split first covers the word with spans, matches and gaps in turn, then joins or drops spans by
// its behaviour.
#include "text/pre_tokenizer.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "text/byte_level.h"

namespace ft {
namespace {

constexpr size_t kMaxGrowth = 64;  // bytes that the steps may make of one

struct Span {
  size_t begin;
  size_t end;
  bool is_match;
};

std::vector<Span> cover(const SplitWords& split, std::string_view word) {
  std::vector<Span> spans;
  size_t covered = 0;
  for (const Pattern::Match& match : split.pattern.find_all(word)) {
    if (match.begin > covered) spans.push_back({covered, match.begin, split.is_inverted});
    spans.push_back({match.begin, match.end, !split.is_inverted});
    covered = match.end;
  }
  if (covered < word.size()) spans.push_back({covered, word.size(), split.is_inverted});
  return spans;
}

// Joins a span to the one before it where `joins(span, is the one before a match)`.
template <typename Joins>
std::vector<Span> join(const std::vector<Span>& spans, Joins joins) {
  std::vector<Span> joined;
  bool after_match = false;
  for (const Span& span : spans) {
    if (!joined.empty() && joins(span, after_match)) {
      joined.back().begin = std::min(joined.back().begin, span.begin);
      joined.back().end = std::max(joined.back().end, span.end);
    } else {
      joined.push_back(span);
    }
    after_match = span.is_match;
  }
  return joined;
}

std::vector<Span> shape(std::vector<Span> spans, SplitBehaviour behaviour) {
  const auto is_first_match = [](const Span& span, bool after_match) {
    return span.is_match && !after_match;
  };
  switch (behaviour) {
    case SplitBehaviour::kIsolated:
      return spans;
    case SplitBehaviour::kRemoved:
      std::erase_if(spans, [](const Span& span) { return span.is_match; });
      return spans;
    case SplitBehaviour::kContiguous:
      return join(spans,
                  [](const Span& span, bool after_match) { return span.is_match == after_match; });
    case SplitBehaviour::kMergedWithPrevious:
      return join(spans, is_first_match);
    case SplitBehaviour::kMergedWithNext:
      std::reverse(spans.begin(), spans.end());
      spans = join(spans, is_first_match);
      std::reverse(spans.begin(), spans.end());
      return spans;
  }
  return spans;
}

// Builds respelled words one after the other.
class Rewriter {
 public:
  explicit Rewriter(const Words& source) : limit_bytes_(kMaxGrowth * (source.text.size() + 64)) {}

  std::string& text() { return result_.text; }

  // All that was appended to text() since the last call is the new spelling of `range`.
  void finish_word(const Words::Range& range) {
    if (result_.text.size() > limit_bytes_) {
      bad_input("a pre-tokenizer of the tokenizer makes more than {} bytes of a text",
                limit_bytes_);
    }
    const size_t begin = result_.ranges.empty() ? 0 : result_.ranges.back().end;
    if (begin < result_.text.size())
      result_.ranges.push_back({begin, result_.text.size(), range.is_text_start});
  }

  Words finish() { return std::move(result_); }

 private:
  Words result_;
  size_t limit_bytes_;
};

Words apply(const SplitWords& step, Words words) {
  std::vector<Words::Range> ranges;
  for (const Words::Range& range : words.ranges) {
    for (const Span& span : shape(cover(step, words.word(range)), step.behaviour)) {
      if (span.begin == span.end) continue;
      ranges.push_back({range.begin + span.begin, range.begin + span.end,
                        range.is_text_start && span.begin == 0});
    }
  }
  words.ranges = std::move(ranges);
  return words;
}

Words apply(const PrefixWords& step, const Words& words) {
  Rewriter rewriter(words);
  for (const Words::Range& range : words.ranges) {
    const std::string_view word = words.word(range);
    const bool is_wanted = !step.only_first || range.is_text_start;
    if (is_wanted && !word.starts_with(step.prefix)) rewriter.text().append(step.prefix);
    rewriter.text().append(word);
    rewriter.finish_word(range);
  }
  return rewriter.finish();
}

Words apply(const ReplaceInWords& step, const Words& words) {
  Rewriter rewriter(words);
  for (const Words::Range& range : words.ranges) {
    rewriter.text().append(step.pattern.replace_all(words.word(range), step.content));
    rewriter.finish_word(range);
  }
  return rewriter.finish();
}

Words apply(const SpellBytes&, const Words& words) {
  Rewriter rewriter(words);
  rewriter.text().reserve(words.text.size() * 2);
  for (const Words::Range& range : words.ranges) {
    for (const char byte : words.word(range))
      append_byte_level(rewriter.text(), static_cast<unsigned char>(byte));
    rewriter.finish_word(range);
  }
  return rewriter.finish();
}

}  // namespace

Words pre_tokenize(const std::vector<PreTokenizerStep>& steps, std::string text,
                   bool is_text_start) {
  Words words;
  words.text = std::move(text);
  if (!words.text.empty()) words.ranges.push_back({0, words.text.size(), is_text_start});
  for (const PreTokenizerStep& step : steps) {
    words = std::visit([&](const auto& known) { return apply(known, std::move(words)); }, step);
  }
  return words;
}

}  // namespace ft
