// The variable `loop` inside of a for.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "text/jinja/value.h"

namespace ft::jinja {

/// Pulls items one by one: a filter that depends on what the body does sees it.
class Loop : public Managed {
 public:
  using Filter = std::function<bool(const Value&)>;

  /// `filter` may be empty. Errors: kBadInput for a value that is not iterable.
  Loop(Run& run, Value source, Filter filter);

  /// Moves to the next item; false at the end.
  bool advance();
  const Value& item() const { return current_; }

  /// loop.name; nothing if there is no such attribute.
  std::optional<Value> attribute(std::string_view name);
  Value cycle(const std::vector<Value>& values) const;
  bool has_changed(std::vector<Value> values);

 private:
  std::optional<Value> pull();
  const Value* peek();
  int64_t length();

  Run& run_;
  Value source_;
  Items items_;
  Filter filter_;
  std::vector<Value> ahead_;  // pulled but not yet reached, from n_used_
  size_t n_used_ = 0;
  int64_t index0_ = -1;
  std::optional<int64_t> length_;
  Value previous_, current_;
  std::optional<std::vector<Value>> last_values_;
};

}  // namespace ft::jinja
