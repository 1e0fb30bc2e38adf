// Arguments to parameters.
#include "text/jinja/native.h"

#include <algorithm>

#include "text/jinja/eval.h"

namespace ft::jinja {

namespace {

struct Parameter {
  std::string_view name;
  bool is_optional;
};

std::vector<Parameter> split_parameters(std::string_view text) {
  std::vector<Parameter> parameters;
  while (!text.empty()) {
    size_t end = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    bool is_optional = word.ends_with('?');
    if (is_optional) word.remove_suffix(1);
    parameters.push_back({word, is_optional});
  }
  return parameters;
}

}  // namespace

NativeCall::NativeCall(Evaluator& evaluator_in, std::string_view name_in, Value self_in)
    : evaluator(evaluator_in), run(evaluator.run()), name(name_in), self(std::move(self_in)) {}

void NativeCall::bind(std::string_view parameters, Args given) {
  if (parameters == "*") {
    args = std::move(given);
    return;
  }
  bool is_positional_only = parameters.starts_with("/");
  if (is_positional_only) parameters.remove_prefix(1);
  std::vector<Parameter> rows = split_parameters(parameters);
  if (given.positional.size() > rows.size()) {
    run.fault("{}() takes at most {} arguments, not {}", name, rows.size(),
              given.positional.size());
  }
  bound_.resize(rows.size());
  for (size_t i = 0; i < given.positional.size(); ++i) bound_[i] = std::move(given.positional[i]);
  for (auto& [key, value] : given.named) {
    auto row = std::find_if(rows.begin(), rows.end(),
                            [&key = key](const Parameter& p) { return p.name == key; });
    if (row == rows.end() || is_positional_only) run.fault("{}() has no argument '{}'", name, key);
    auto& place = bound_[static_cast<size_t>(row - rows.begin())];
    if (place) run.fault("{}() got '{}' twice", name, key);
    place = std::move(value);
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!bound_[i] && !rows[i].is_optional) run.fault("{}() needs '{}'", name, rows[i].name);
  }
}

int64_t NativeCall::integer(size_t i, int64_t otherwise) const {
  if (!has(i)) return otherwise;
  auto value = as_integer(arg(i));
  if (!value) run.fault("{}() needs an int, not {}", name, type_name(arg(i)));
  return *value;
}

TextRef NativeCall::text(size_t i) const {
  const TextRef* text = arg(i).get<TextRef>();
  if (!text) run.fault("{}() needs a str, not {}", name, type_name(arg(i)));
  return *text;
}

TextRef NativeCall::text(size_t i, std::string_view otherwise) const {
  return has(i) ? text(i) : made(run, otherwise);
}

Value refuse_call(NativeCall& call) {
  call.run.refuse("'{}' is not supported in chat templates", call.name);
}

}  // namespace ft::jinja
