// Filters and tests by name.
#include "text/jinja_filters.h"

#include <unordered_map>

#include "text/jinja_tests.h"

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

Value apply(const Table& table, std::string_view what, Evaluator& evaluator, Run& run,
            std::string_view name, Value self, Args args) {
  auto row = table.find(name);
  if (row == table.end()) run.fault("there is no {} '{}'", what, name);
  Deeper deeper(run);
  run.charge(1);
  if (const Text* text = self.text()) run.charge_bytes(text->size());
  NativeCall call(evaluator, run, row->second->name, std::move(self));
  call.bind(row->second->parameters, std::move(args));
  return row->second->run(call);
}

}  // namespace

bool is_filter(std::string_view name) { return filters().contains(name); }
bool is_test(std::string_view name) { return tests().contains(name); }

Value apply_filter(Evaluator& evaluator, Run& run, std::string_view name, Value self, Args args) {
  return apply(filters(), "filter", evaluator, run, name, std::move(self), std::move(args));
}

bool apply_test(Evaluator& evaluator, Run& run, std::string_view name, Value self, Args args) {
  return is_true(apply(tests(), "test", evaluator, run, name, std::move(self), std::move(args)));
}

}  // namespace ft::jinja
