// Each stop string follows the text byte by byte with the automaton of Knuth, Morris and Pratt, so
// the work for a byte does not depend on how long the strings are.
#include "text/stop_strings.h"

#include <algorithm>
#include <utility>

namespace ft {

bool StopStrings::Stop::advance(char byte) {
  while (n_matched > 0 && text[n_matched] != byte) n_matched = fallback[n_matched];
  if (text[n_matched] == byte) ++n_matched;
  return n_matched == text.size();
}

StopStrings::StopStrings(std::vector<std::string> strings) {
  for (std::string& string : strings) {
    if (string.empty()) continue;
    Stop stop{std::move(string), {0}};
    for (const char byte : stop.text.substr(1)) {
      stop.fallback.push_back(stop.n_matched);
      stop.advance(byte);
    }
    stop.n_matched = 0;
    stops_.push_back(std::move(stop));
  }
}

std::string StopStrings::push(std::string_view text) {
  if (is_stopped_) return "";
  for (const char byte : text) {
    held_.push_back(byte);
    size_t n_complete = 0;  // bytes of the longest string that ends here
    for (Stop& stop : stops_) {
      if (stop.advance(byte)) n_complete = std::max(n_complete, stop.text.size());
    }
    if (n_complete > 0) {
      is_stopped_ = true;
      held_.resize(held_.size() - n_complete);
      return std::exchange(held_, "");
    }
  }
  size_t n_held = 0;
  for (const Stop& stop : stops_) n_held = std::max(n_held, stop.n_matched);
  std::string shown = held_.substr(0, held_.size() - n_held);
  held_.erase(0, shown.size());
  return shown;
}

std::string StopStrings::finish() {
  return std::exchange(held_, "");
}

}  // namespace ft
