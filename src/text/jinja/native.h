// Filters, tests, methods and functions that are written in C++: rows of tables, with their
// parameters bound by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "text/jinja/value.h"

namespace ft::jinja {

/// A call under way. `self` is the value in front of the bar, of `is` or of the dot; undefined for
/// functions.
class NativeCall {
 public:
  NativeCall(Evaluator& evaluator_in, std::string_view name_in, Value self_in);

  /// Gives each argument to its parameter. `parameters` has names with blanks between them; "?"
  /// behind a name: it may be missing; "/" in front of all: they have no names for the caller; "*"
  /// alone: `args` stays as it is. Errors: kBadInput for one too many, one missing, or an unknown
  /// name.
  void bind(std::string_view parameters, Args given);

  bool has(size_t i) const { return i < bound_.size() && bound_[i].has_value(); }
  bool has_value(size_t i) const { return has(i) && !bound_[i]->is_none(); }
  const Value& arg(size_t i) const { return *bound_[i]; }
  /// Errors: kBadInput for an argument of another type. The default stands for a missing one.
  int64_t integer(size_t i, int64_t otherwise) const;
  bool flag(size_t i, bool otherwise) const { return has(i) ? is_true(arg(i)) : otherwise; }
  TextRef text(size_t i) const;
  TextRef text(size_t i, std::string_view otherwise) const;

  Evaluator& evaluator;
  Run& run;
  std::string_view name;
  Value self;
  Args args;  // of a "*" row

 private:
  std::vector<std::optional<Value>> bound_;
};

struct Native {
  std::string_view name;
  std::string_view parameters;
  Value (*run)(NativeCall& call);
};

/// What the reference has and this subset has not: kUnsupported when called.
Value refuse_call(NativeCall& call);

}  // namespace ft::jinja
