// Searches have a budget of backtracking steps that grows with the text, so that no expression can
// hang on any text.
#include "text/pattern.h"

#include <oniguruma.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "base/error.h"
#include "text/utf8.h"

namespace ft {
namespace {

constexpr size_t kMaxPatternBytes = 16 << 10;  // the longest of a published tokenizer has 1 KiB
constexpr unsigned kMaxPatternDepth = 200;     // nested groups; the parser recurses
constexpr unsigned long kFreeSteps = 1024;     // that each search has without drawing on the budget
constexpr uint64_t kBaseSteps = 4 << 20;       // the budget of a text,
constexpr uint64_t kStepsPerByte = 512;        // which a long run of blanks uses to about 10 a byte
constexpr uint64_t kBaseStackEntries = 1 << 16;  // the match stack: an entry has about 40 bytes
constexpr uint64_t kStackEntriesPerByte = 8;

void initialise_library() {
  static std::once_flag once;
  std::call_once(once, [] {
    OnigEncoding encodings[] = {ONIG_ENCODING_UTF8};
    onig_initialize(encodings, 1);
    onig_set_parse_depth_limit(kMaxPatternDepth);
    onig_set_subexp_call_limit_in_search(kBaseSteps);
  });
}

std::string message_of(int code, OnigErrorInfo* info) {
  std::array<OnigUChar, ONIG_MAX_ERROR_MESSAGE_LEN> text{};
  const int n = info ? onig_error_code_to_str(text.data(), code, info)
                     : onig_error_code_to_str(text.data(), code);
  return {reinterpret_cast<const char*>(text.data()), static_cast<size_t>(n)};
}

const OnigUChar* to_onig(const char* text) {
  return reinterpret_cast<const OnigUChar*>(text);
}

// The searches of one text, which share a budget, a region and the limits.
class Search {
 public:
  Search(re_pattern_buffer* expression, std::string_view text, const std::string& where)
      : expression_(expression),
        text_(text),
        where_(where),
        region_(onig_region_new(), [](OnigRegion* region) { onig_region_free(region, 1); }),
        limits_(onig_new_match_param(), onig_free_match_param),
        steps_left_(kBaseSteps + kStepsPerByte * text.size()) {
    const uint64_t n_entries =
        std::min<uint64_t>(kBaseStackEntries + kStackEntriesPerByte * text.size(), UINT32_MAX);
    onig_set_match_stack_limit_size_of_match_param(limits_.get(), static_cast<unsigned>(n_entries));
  }

  std::optional<Pattern::Match> next(size_t from) {
    int result = run(from, kFreeSteps);
    for (unsigned long n_steps = kFreeSteps * 4; is_step_limit(result); n_steps *= 4) {
      if (n_steps > steps_left_) {
        bad_input(
            "{}: the expression backtracks too much on a text of {} bytes; it is not fit for "
            "untrusted text",
            where_, text_.size());
      }
      steps_left_ -= n_steps;
      result = run(from, n_steps);
    }
    if (result == ONIG_MISMATCH) return std::nullopt;
    if (result < 0) {
      bad_input("{}: the expression failed on a text of {} bytes: {}", where_, text_.size(),
                message_of(result, nullptr));
    }
    const Pattern::Match match{static_cast<size_t>(region_->beg[0]),
                               static_cast<size_t>(region_->end[0])};
    if (match.begin < from || match.end < match.begin) {
      bad_input(
          "{}: the expression moves the start of its match out of it, which is of no use here",
          where_);
    }
    return match;
  }

 private:
  static bool is_step_limit(int result) {
    return result == ONIGERR_RETRY_LIMIT_IN_SEARCH_OVER ||
           result == ONIGERR_RETRY_LIMIT_IN_MATCH_OVER;
  }

  int run(size_t from, unsigned long n_steps) {
    onig_set_retry_limit_in_match_of_match_param(limits_.get(), n_steps);
    onig_set_retry_limit_in_search_of_match_param(limits_.get(), n_steps);
    const OnigUChar* begin = to_onig(text_.data());
    const OnigUChar* end = begin + text_.size();
    return onig_search_with_param(expression_, begin, end, begin + from, end, region_.get(),
                                  ONIG_OPTION_NONE, limits_.get());
  }

  re_pattern_buffer* expression_;
  std::string_view text_;
  const std::string& where_;
  std::unique_ptr<OnigRegion, void (*)(OnigRegion*)> region_;
  std::unique_ptr<OnigMatchParam, void (*)(OnigMatchParam*)> limits_;
  uint64_t steps_left_;
};

}  // namespace

void Pattern::Free::operator()(re_pattern_buffer* expression) const {
  onig_free(expression);
}

Pattern Pattern::compile(const std::string& source, bool is_literal, const std::string& where) {
  initialise_library();
  if (source.size() > kMaxPatternBytes) {
    bad_input("{}: a pattern of {} bytes; the limit is {}", where, source.size(), kMaxPatternBytes);
  }
  const OnigUChar* begin = to_onig(source.data());
  OnigErrorInfo info{};
  re_pattern_buffer* expression = nullptr;
  const int result =
      onig_new(&expression, begin, begin + source.size(), ONIG_OPTION_NONE, ONIG_ENCODING_UTF8,
               is_literal ? ONIG_SYNTAX_ASIS : ONIG_SYNTAX_DEFAULT, &info);
  if (result != ONIG_NORMAL) {
    bad_input("{}: the regular expression does not compile: {}", where, message_of(result, &info));
  }
  return Pattern(std::unique_ptr<re_pattern_buffer, Free>(expression), where);
}

Pattern Pattern::regex(const std::string& expression, const std::string& where) {
  return compile(expression, false, where);
}

Pattern Pattern::literal(const std::string& text, const std::string& where) {
  return compile(text, true, where);
}

std::vector<Pattern::Match> Pattern::find_all(std::string_view text) const {
  std::vector<Match> matches;
  Search search(expression_.get(), text, where_);
  std::optional<size_t> last_end;
  for (size_t from = 0; from <= text.size();) {
    const std::optional<Match> match = search.next(from);
    if (!match) break;
    if (match->begin == match->end && match->end == last_end) {
      if (from >= text.size()) break;
      from += utf8_length(static_cast<unsigned char>(text[from]));
      continue;
    }
    matches.push_back(*match);
    last_end = from = match->end;
  }
  return matches;
}

std::string Pattern::replace_all(std::string_view text, std::string_view content) const {
  std::string replaced;
  size_t copied = 0;
  for (const Match& match : find_all(text)) {
    replaced.append(text.substr(copied, match.begin - copied)).append(content);
    copied = match.end;
  }
  return replaced.append(text.substr(copied));
}

}  // namespace ft
