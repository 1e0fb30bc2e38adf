// The `attribute=` of filters: "name", "name.inner.0", or a number.
#pragma once

#include <optional>
#include <vector>

#include "text/jinja/value.h"

namespace ft::jinja {

class Getter {
 public:
  /// None: the item itself. `otherwise` stands for what is missing.
  Getter(Run& run, const Value& attribute, std::optional<Value> otherwise = std::nullopt);

  /// Errors: kBadInput on the way through an undefined value.
  Value operator()(const Value& item) const;

 private:
  Run& run_;
  std::vector<Value> parts_;
  std::optional<Value> otherwise_;
};

/// A string in lower case; all else as it is.
Value ignore_case(Run& run, const Value& value);

}  // namespace ft::jinja
