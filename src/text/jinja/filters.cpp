// Filters and tests by name.
#include "text/jinja/filters.h"

#include <unordered_map>

#include "text/jinja/eval.h"

namespace ft::jinja {

namespace {

using Table = std::unordered_map<std::string_view, const Native*>;

Table make_table(std::initializer_list<std::span<const Native>> parts) {
  Table table;
  for (std::span<const Native> part : parts) {
    for (const Native& row : part) table.emplace(row.name, &row);
  }
  return table;
}

const Table& filters() {
  static const Table table =
      make_table({text_filters(), list_filters(), choice_filters(), number_filters()});
  return table;
}

const Table& tests() {
  static const Table table = make_table({test_rows()});
  return table;
}

/// Errors: kBadInput for a name that is not in the table.
const Native& find_row(Run& run, const Table& table, std::string_view what, std::string_view name) {
  auto row = table.find(name);
  if (row == table.end()) run.fault("there is no {} '{}'", what, name);
  return *row->second;
}

Value apply(const Native& row, Evaluator& evaluator, Value self, Args args) {
  Run& run = evaluator.run();
  Deeper deeper(run, 3);
  run.charge(1);
  if (const Text* text = self.text()) run.charge_bytes(text->size());
  NativeCall call(evaluator, row.name, std::move(self));
  call.bind(row.parameters, std::move(args));
  return row.run(call);
}

}  // namespace

bool is_filter(std::string_view name) {
  return filters().contains(name);
}
bool is_test(std::string_view name) {
  return tests().contains(name);
}

Value apply_filter(Evaluator& evaluator, std::string_view name, Value self, Args args) {
  const Native& row = find_row(evaluator.run(), filters(), "filter", name);
  return apply(row, evaluator, std::move(self), std::move(args));
}

bool apply_test(Evaluator& evaluator, std::string_view name, Value self, Args args) {
  const Native& row = find_row(evaluator.run(), tests(), "test", name);
  return is_true(apply(row, evaluator, std::move(self), std::move(args)));
}

}  // namespace ft::jinja
