// Stop strings equal a search in the whole text.
#include "text/stop_strings.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/text/random_text.h"

namespace ft {
namespace {

// What the text shows, by the definition: up to the stop string that is complete first, the longest
// of those.
std::pair<std::string, bool> stop_plainly(const std::string& text,
                                          const std::vector<std::string>& strings) {
  for (size_t end = 1; end <= text.size(); ++end) {
    size_t longest = 0;
    for (const std::string& s : strings) {
      if (!s.empty() && std::string_view(text).substr(0, end).ends_with(s))
        longest = std::max(longest, s.size());
    }
    if (longest > 0) return {text.substr(0, end - longest), true};
  }
  return {text, false};
}

std::string letters(RandomText& random, size_t n) {
  std::string text;
  for (; n > 0; --n) text.push_back("ab"[random.below(2)]);
  return text;
}

TEST(StopStrings, EqualASearchInTheWholeText) {
  RandomText random(6);
  for (int i = 0; i < 5000; ++i) {
    std::vector<std::string> strings;
    for (size_t n = random.below(4); n > 0; --n)
      strings.push_back(letters(random, random.below(7)));
    const std::string text = letters(random, random.below(25));
    const auto [expected, is_stopped] = stop_plainly(text, strings);
    StopStrings stop(strings);
    std::string shown;
    for (size_t from = 0; from < text.size();) {
      const size_t n = 1 + random.below(5);
      shown += stop.push(std::string_view(text).substr(from, n));
      EXPECT_TRUE(expected.starts_with(shown));
      from += n;
    }
    EXPECT_EQ(shown + stop.finish(), expected);
    EXPECT_EQ(stop.is_stopped(), is_stopped);
    EXPECT_EQ(stop.push("more").empty(), is_stopped);
  }
}

TEST(StopStrings, HoldBackNoMoreThanABeginning) {
  StopStrings stop({"</s>", "END"});
  EXPECT_EQ(stop.push("Hello </"), "Hello ");
  EXPECT_EQ(stop.push("b> EN"), "</b> ");
  EXPECT_EQ(stop.push("DE"), "");
  EXPECT_TRUE(stop.is_stopped());
  EXPECT_EQ(stop.push("x"), "");
  EXPECT_EQ(stop.finish(), "");
  StopStrings none({""});
  EXPECT_EQ(none.push("text"), "text");
}

}  // namespace
}  // namespace ft
