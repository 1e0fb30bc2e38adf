// Plain names are looked up in a set, since a checkpoint may list thousands; the few other patterns
// are tried in turn.
#include "files/module_patterns.h"

#include <algorithm>
#include <regex>
#include <set>

#include "base/error.h"
#include "base/printable.h"

namespace ft {
namespace {

// Bounds for what a hostile configuration can cost. Published ones have a few patterns for each
// layer at most, of 60 bytes.
constexpr size_t kMaxPatternBytes = 512;
constexpr size_t kMaxPatterns = 2048;  // that are not plain names
constexpr size_t kMaxLookaheads = 2;
constexpr size_t kMaxModuleBytes = 4096;

constexpr std::string_view kRegexMark = "re:";

/// * stands for any run of characters, ? for one. Steps back only to the latest *, so it takes at
/// most pattern times text steps.
bool glob_match(std::string_view pattern, std::string_view text) {
  size_t p = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;
  size_t resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

size_t count_lookaheads(std::string_view pattern) {
  size_t count = 0;
  for (const std::string_view mark : {"(?=", "(?!"}) {
    for (size_t at = pattern.find(mark); at != std::string_view::npos;
         at = pattern.find(mark, at + 1)) {
      ++count;
    }
  }
  return count;
}

std::regex compile(std::string_view pattern, const std::string& where) {
  if (count_lookaheads(pattern) > kMaxLookaheads) {
    unsupported("{}: \"{}\" has more than {} lookaheads", where, printable(pattern),
                kMaxLookaheads);
  }
  try {
    // The default matcher of libstdc++ backtracks: exponential time, and a stack frame for each
    // character.
    return std::regex(pattern.begin(), pattern.end(),
                      std::regex::ECMAScript | std::regex_constants::__polynomial);
  } catch (const std::regex_error& error) {
    unsupported("{}: \"{}\" is not a regular expression that can be read here: {}", where,
                printable(pattern), error.what());
  }
}

}  // namespace

struct ModulePatterns::Rules {
  std::set<std::string, std::less<>> names;
  std::vector<std::string> globs;
  std::vector<std::regex> regexes;
};

ModulePatterns::ModulePatterns() : rules_(std::make_shared<Rules>()) {}

ModulePatterns::ModulePatterns(const std::vector<std::string>& patterns, const std::string& where) {
  Rules rules;
  for (const std::string& pattern : patterns) {
    const bool is_regex = pattern.starts_with(kRegexMark);
    if (!is_regex && pattern.find_first_of("*?") == std::string::npos) {
      rules.names.insert(pattern);
      continue;
    }
    if (pattern.size() > kMaxPatternBytes) {
      unsupported("{}: the pattern \"{}\" is longer than {} bytes", where, printable(pattern),
                  kMaxPatternBytes);
    }
    if (rules.globs.size() / 2 + rules.regexes.size() == kMaxPatterns) {
      unsupported("{}: more than {} patterns with wildcards", where, kMaxPatterns);
    }
    if (is_regex) {
      rules.regexes.push_back(compile(std::string_view(pattern).substr(kRegexMark.size()), where));
    } else {
      rules.globs.push_back(pattern);
      rules.globs.push_back(pattern + ".*");  // all that lies below
    }
  }
  rules_ = std::make_shared<const Rules>(std::move(rules));
}

bool ModulePatterns::empty() const {
  return rules_->names.empty() && rules_->globs.empty() && rules_->regexes.empty();
}

bool ModulePatterns::match(std::string_view path) const {
  if (path.size() > kMaxModuleBytes) return false;
  std::vector<size_t> ends;  // of components
  for (size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.', dot + 1)) {
    ends.push_back(dot);
  }
  ends.push_back(path.size());

  size_t begin = 0;  // of a component
  for (size_t first = 0; first < ends.size(); ++first) {
    for (size_t last = first; last < ends.size(); ++last) {
      if (rules_->names.contains(path.substr(begin, ends[last] - begin))) return true;
    }
    begin = ends[first] + 1;
  }
  const auto covers = [&](const std::string& glob) { return glob_match(glob, path); };
  if (std::any_of(rules_->globs.begin(), rules_->globs.end(), covers)) return true;
  const auto matches = [&](const std::regex& regex) {
    return std::regex_search(path.begin(), path.end(), regex,
                             std::regex_constants::match_continuous);
  };
  return std::any_of(rules_->regexes.begin(), rules_->regexes.end(), matches);
}

}  // namespace ft
