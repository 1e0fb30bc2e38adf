// Attributes, items and slices.
#include "text/jinja/access.h"

#include <algorithm>
#include <array>

#include "text/jinja/eval.h"
#include "text/jinja/loop.h"

namespace ft::jinja {

namespace {

std::optional<Value> copy_of(const Value* found) {
  return found ? std::optional<Value>(*found) : std::nullopt;
}

// A method with the value that it was taken from.
struct Method : Callable {
  Method(const Native& row_in, Value self_in) : row(row_in), self(std::move(self_in)) {}
  std::string_view name() const override { return row.name; }
  Value call(Evaluator& evaluator, Args args) const override {
    NativeCall call(evaluator, row.name, self);
    if (const Text* text = self.text()) evaluator.run().charge_bytes(text->size());
    call.bind(row.parameters, std::move(args));
    return row.run(call);
  }
  const Native& row;
  Value self;
};

std::optional<Value> find_method(Run& run, const Value& value, std::string_view name) {
  auto search = [&](std::span<const Native> rows) -> std::optional<Value> {
    auto row =
        std::find_if(rows.begin(), rows.end(), [&](const Native& r) { return r.name == name; });
    if (row == rows.end()) return std::nullopt;
    // What would change a value is hidden by the sandbox.
    if (row->run == nullptr) return Value(Undefined{row->name, type_name(value)});
    return static_cast<const Callable*>(run.make<Method>(*row, value));
  };
  if (value.dict()) return search(dict_methods());
  if (const List* list = value.list()) {
    bool is_list = list->kind == ListKind::kList;
    bool is_search = name == "count" || name == "index";
    if (is_list || (list->is_indexable() && is_search)) return search(list_methods());
    return std::nullopt;
  }
  if (!value.text()) return std::nullopt;
  auto found = search(text_methods());
  return found ? found : search(text_search_methods());
}

std::optional<Value> own_attribute(Run& run, const Value& value, std::string_view name) {
  if (auto undefined = value.get<Undefined>()) fault_undefined(run, *undefined);
  if (auto loop = value.get<Loop*>()) return (*loop)->attribute(name);
  if (auto space = value.get<Namespace*>()) return copy_of((*space)->names.find(run, name));
  bool is_of_macro = name == "name" || name == "arguments" || name == "caller" ||
                     name == "catch_kwargs" || name == "catch_varargs";
  if (is_of_macro && value.is<const Callable*>()) {
    run.refuse("'{}' of a macro is not supported", name);
  }
  return find_method(run, value, name);
}

std::optional<Value> element(Run& run, const Value& value, int64_t index) {
  auto n = length_of(value);
  const List* list = value.list();
  if (!n || !(value.text() || (list && list->is_indexable()))) return std::nullopt;
  if (index < 0) index += *n;
  if (index < 0 || index >= *n) return std::nullopt;
  if (list) return list->items[static_cast<size_t>(index)];
  const TextRef& text = *value.get<TextRef>();
  if (!text->is_ascii()) run.charge_bytes(text->size());
  size_t begin = text->offset_of(static_cast<size_t>(index));
  size_t end = begin;
  next_code_point(text->bytes(), end);
  return slice(run, text, begin, end);
}

// start, stop and step as Python fits them to a length; n_items of them exist.
struct SliceRange {
  int64_t start;
  int64_t step;
  int64_t n_items;
};

std::optional<int64_t> slice_part(Run& run, const Value& value) {
  if (value.is_none()) return std::nullopt;
  if (auto undefined = value.get<Undefined>()) fault_undefined(run, *undefined);
  auto integer = as_integer(value);
  if (!integer) run.fault("a slice needs integers, not {}", type_name(value));
  return integer;
}

SliceRange fit_slice(Run& run, int64_t n, const Value& start_value, const Value& stop_value,
                     const Value& step_value) {
  auto wanted_start = slice_part(run, start_value), wanted_stop = slice_part(run, stop_value);
  int64_t step = slice_part(run, step_value).value_or(1);
  if (step == 0) run.fault("the step of a slice cannot be 0");
  step = std::max(step, -INT64_MAX);
  int64_t lowest = step < 0 ? -1 : 0;
  int64_t highest = step < 0 ? n - 1 : n;
  auto fit = [&](std::optional<int64_t> wanted, int64_t otherwise) {
    if (!wanted) return otherwise;
    return std::clamp(*wanted < 0 ? *wanted + n : *wanted, lowest, highest);
  };
  int64_t start = fit(wanted_start, step < 0 ? highest : lowest);
  int64_t stop = fit(wanted_stop, step < 0 ? lowest : highest);
  int64_t distance = step < 0 ? start - stop : stop - start;
  int64_t stride = step < 0 ? -step : step;
  return {start, step, distance <= 0 ? 0 : (distance - 1) / stride + 1};
}

TextRef slice_text(Run& run, const TextRef& text, const SliceRange& range) {
  if (range.n_items == 0) return made(run, "");
  run.charge_bytes(text->size());
  size_t position = text->offset_of(static_cast<size_t>(range.start));
  if (range.step == 1) {
    return slice(run, text, position,
                 text->offset_of(static_cast<size_t>(range.start + range.n_items)));
  }
  TextBuilder out(run);
  for (int64_t i = 0; i < range.n_items; ++i) {
    size_t end = position;
    next_code_point(text->bytes(), end);
    run.charge(1);
    out.append(*text, position, end);
    if (i + 1 == range.n_items) break;
    for (int64_t skip = range.step; skip > 0; --skip) next_code_point(text->bytes(), position);
    for (int64_t skip = range.step; skip < 0; ++skip)
      position = previous_code_point(text->bytes(), position);
  }
  return out.finish();
}

}  // namespace

void fault_undefined(Run& run, const Undefined& value) {
  if (value.holder.empty()) run.fault("'{}' is undefined", value.name);
  if (value.name.empty()) run.fault("a {} has no such item", value.holder);
  run.fault("a {} has no '{}'", value.holder, value.name);
}

std::optional<Value> get_attribute(Run& run, const Value& value, std::string_view name) {
  if (auto found = own_attribute(run, value, name)) return found;
  if (const Dict* dict = value.dict()) return copy_of(dict->find(run, name));
  return std::nullopt;
}

std::optional<Value> get_item(Run& run, const Value& value, const Value& key) {
  if (auto undefined = value.get<Undefined>()) fault_undefined(run, *undefined);
  if (const Dict* dict = value.dict(); dict && is_hashable(key)) {
    if (const Value* found = dict->find(run, key)) return *found;
  }
  if (const Text* name = key.text()) return own_attribute(run, value, name->bytes());
  auto index = as_integer(key);
  return index ? element(run, value, *index) : std::nullopt;
}

Value get_slice(Run& run, const Value& value, const Value& start, const Value& stop,
                const Value& step) {
  if (auto undefined = value.get<Undefined>()) fault_undefined(run, *undefined);
  const List* list = value.list();
  if (!value.text() && !(list && list->is_indexable())) {
    run.fault("a value of type {} cannot be sliced", type_name(value));
  }
  SliceRange range = fit_slice(run, *length_of(value), start, stop, step);
  if (value.text()) return slice_text(run, *value.get<TextRef>(), range);
  std::vector<Value> items;
  for (int64_t i = 0; i < range.n_items; ++i) {
    run.charge(1);
    items.push_back(list->items[static_cast<size_t>(range.start + i * range.step)]);
  }
  return make_list(run, std::move(items), list->kind);
}

}  // namespace ft::jinja
