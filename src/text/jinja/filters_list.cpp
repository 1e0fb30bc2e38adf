// Filters on rows of values: order, extremes, groups.
#include <algorithm>
#include <numeric>

#include "text/jinja/access.h"
#include "text/jinja/filters.h"
#include "text/jinja/getter.h"
#include "text/jinja/ops.h"
#include "text/jinja/text_ops.h"

namespace ft::jinja {

namespace {

Value length_filter(NativeCall& call) {
  auto length = length_of(call.self);
  if (!length) call.run.fault("a value of type {} has no length", type_name(call.self));
  return *length;
}

Value first_filter(NativeCall& call) {
  Items items(call.run, call.self);
  auto first = items.next();
  return first ? *first : Value(Undefined{"first"});
}

void require_reversible(NativeCall& call) {
  const List* list = call.self.list();
  if (!is_iterable(call.self) || (list && list->is_generator())) {
    call.run.fault("{}: a value of type {} has no last item", call.name, type_name(call.self));
  }
}

Value last_filter(NativeCall& call) {
  require_reversible(call);
  if (const Text* text = call.self.text(); text && text->size() > 0) {
    size_t begin = previous_code_point(text->bytes(), text->size());
    return slice(call.run, *call.self.get<TextRef>(), begin, text->size());
  }
  std::vector<Value> items = take_items(call.run, call.self);
  return items.empty() ? Value(Undefined{"last"}) : items.back();
}

Value list_filter(NativeCall& call) {
  return make_list(call.run, take_items(call.run, call.self));
}

Value reverse_filter(NativeCall& call) {
  if (call.self.text()) {
    return get_slice(call.run, call.self, None{}, None{}, int64_t{-1});
  }
  const List* list = call.self.list();
  bool is_lazy = !list || !list->is_generator();
  std::vector<Value> items = take_items(call.run, call.self);
  std::reverse(items.begin(), items.end());
  return make_list(call.run, std::move(items), is_lazy ? ListKind::kGenerator : ListKind::kList);
}

Value items_filter(NativeCall& call) {
  std::vector<Value> items;
  if (!call.self.is_undefined()) {
    const Dict* dict = call.self.dict();
    if (!dict) call.run.fault("items: a dict is needed, not {}", type_name(call.self));
    for (const auto& [key, value] : dict->entries()) {
      items.push_back(make_list(call.run, {key, value}, ListKind::kTuple));
    }
  }
  return make_list(call.run, std::move(items), ListKind::kGenerator);
}

Value join_filter(NativeCall& call) {
  TextRef separator = call.has(0) ? to_text(call.run, call.arg(0)) : made(call.run, "");
  Getter get(call.run, call.has_value(1) ? call.arg(1) : Value(None{}));
  std::vector<TextRef> parts;
  for (const Value& item : take_items(call.run, call.self)) {
    parts.push_back(to_text(call.run, get(item)));
  }
  return join(call.run, *separator, parts);
}

// The items in the order of their keys; stable, also if reversed.
std::vector<Value> sorted(Run& run, const std::vector<Value>& items, const std::vector<Value>& keys,
                          bool is_reversed) {
  std::vector<size_t> places(items.size());
  std::iota(places.begin(), places.end(), size_t{0});
  std::stable_sort(places.begin(), places.end(), [&](size_t a, size_t b) {
    auto order = compare(run, keys[a], keys[b], "<");
    return order && (is_reversed ? *order > 0 : *order < 0);
  });
  std::vector<Value> result;
  for (size_t place : places) result.push_back(items[place]);
  return result;
}

Value sort_filter(NativeCall& call) {
  bool is_sensitive = call.flag(1, false);
  std::vector<Getter> getters;
  if (call.has_value(2) && call.arg(2).text()) {
    // "a,b" sorts by a, then by b.
    const TextRef names = call.text(2);
    for (size_t begin = 0; begin <= names->size();) {
      size_t end = std::min(names->bytes().find(',', begin), names->size());
      getters.emplace_back(call.run, slice(call.run, names, begin, end));
      begin = end + 1;
    }
  } else {
    getters.emplace_back(call.run, call.has_value(2) ? call.arg(2) : Value(None{}));
  }
  std::vector<Value> items = take_items(call.run, call.self);
  std::vector<Value> keys;
  for (const Value& item : items) {
    std::vector<Value> key;
    for (const Getter& get : getters) {
      Value part = get(item);
      key.push_back(is_sensitive ? part : ignore_case(call.run, part));
    }
    keys.push_back(make_list(call.run, std::move(key)));
  }
  return make_list(call.run, sorted(call.run, items, keys, call.flag(0, false)));
}

Value dictsort_filter(NativeCall& call) {
  const Dict* dict = call.self.dict();
  if (!dict) call.run.fault("dictsort: a dict is needed, not {}", type_name(call.self));
  TextRef by = call.text(1, "key");
  bool is_by_key = by->bytes() == "key";
  if (!is_by_key && by->bytes() != "value") call.run.fault("dictsort: by is 'key' or 'value'");
  std::vector<Value> items, keys;
  for (const auto& [key, value] : dict->entries()) {
    items.push_back(make_list(call.run, {key, value}, ListKind::kTuple));
    const Value& wanted = is_by_key ? key : value;
    keys.push_back(call.flag(0, false) ? wanted : ignore_case(call.run, wanted));
  }
  return make_list(call.run, sorted(call.run, items, keys, call.flag(2, false)));
}

template <bool kIsMax>
Value extreme_filter(NativeCall& call) {
  Getter get(call.run, call.has_value(1) ? call.arg(1) : Value(None{}));
  bool is_sensitive = call.flag(0, false);
  Value best(Undefined{call.name}), best_key;
  bool is_first = true;
  for (Value& item : take_items(call.run, call.self)) {
    Value key = get(item);
    if (!is_sensitive) key = ignore_case(call.run, key);
    if (!is_first) {
      auto order = compare(call.run, key, best_key, kIsMax ? ">" : "<");
      if (!order || (kIsMax ? *order <= 0 : *order >= 0)) continue;
    }
    is_first = false;
    best = std::move(item);
    best_key = std::move(key);
  }
  return best;
}

Value sum_filter(NativeCall& call) {
  Getter get(call.run, call.has_value(0) ? call.arg(0) : Value(None{}));
  Value total = call.has(1) ? call.arg(1) : Value(int64_t{0});
  if (total.text()) call.run.fault("sum does not add strings; use join");
  for (const Value& item : take_items(call.run, call.self)) {
    total = arithmetic(call.run, Op::kAdd, total, get(item));
  }
  return total;
}

Value unique_filter(NativeCall& call) {
  Getter get(call.run, call.has_value(1) ? call.arg(1) : Value(None{}));
  bool is_sensitive = call.flag(0, false);
  Dict seen;
  std::vector<Value> kept;
  for (const Value& item : take_items(call.run, call.self)) {
    Value key = get(item);
    if (!is_sensitive) key = ignore_case(call.run, key);
    if (!is_hashable(key))
      call.run.fault("unique: values of type {} cannot be told apart", type_name(key));
    if (seen.find(call.run, key)) continue;
    seen.set(call.run, std::move(key), None{});
    kept.push_back(item);
  }
  return make_list(call.run, std::move(kept), ListKind::kGenerator);
}

Value batch_filter(NativeCall& call) {
  int64_t n = call.integer(0, 0);
  if (n <= 0) call.run.fault("batch: the number of items must be positive");
  std::vector<Value> batches, batch;
  for (const Value& item : take_items(call.run, call.self)) {
    if (static_cast<int64_t>(batch.size()) == n) {
      batches.push_back(make_list(call.run, std::exchange(batch, {})));
    }
    batch.push_back(item);
  }
  if (!batch.empty()) {
    auto n_missing = static_cast<uint64_t>(n) - batch.size();
    if (call.has_value(1) && n_missing > 0) {
      call.run.charge(n_missing);
      batch.insert(batch.end(), n_missing, call.arg(1));
    }
    batches.push_back(make_list(call.run, std::move(batch)));
  }
  return make_list(call.run, std::move(batches), ListKind::kGenerator);
}

Value slice_filter(NativeCall& call) {
  int64_t n_slices = call.integer(0, 0);
  if (n_slices <= 0) call.run.fault("slice: the number of slices must be positive");
  std::vector<Value> items = take_items(call.run, call.self);
  auto n = static_cast<int64_t>(items.size());
  int64_t n_each = n / n_slices, n_longer = n % n_slices;
  std::vector<Value> slices;
  auto next = items.begin();
  for (int64_t i = 0; i < n_slices; ++i) {
    std::vector<Value> part(next, next + n_each + (i < n_longer ? 1 : 0));
    next += static_cast<int64_t>(part.size());
    if (call.has_value(1) && i >= n_longer) part.push_back(call.arg(1));
    slices.push_back(make_list(call.run, std::move(part)));
  }
  return make_list(call.run, std::move(slices), ListKind::kGenerator);
}

constexpr Native kRows[] = {
    {"batch", "linecount fill_with?", batch_filter},
    {"count", "", length_filter},
    {"dictsort", "case_sensitive? by? reverse?", dictsort_filter},
    {"first", "", first_filter},
    {"groupby", "*", refuse_call},
    {"items", "", items_filter},
    {"join", "d? attribute?", join_filter},
    {"last", "", last_filter},
    {"length", "", length_filter},
    {"list", "", list_filter},
    {"max", "case_sensitive? attribute?", extreme_filter<true>},
    {"min", "case_sensitive? attribute?", extreme_filter<false>},
    {"random", "*", refuse_call},
    {"reverse", "", reverse_filter},
    {"slice", "slices fill_with?", slice_filter},
    {"sort", "reverse? case_sensitive? attribute?", sort_filter},
    {"sum", "attribute? start?", sum_filter},
    {"unique", "case_sensitive? attribute?", unique_filter},
};

}  // namespace

std::span<const Native> list_filters() {
  return kRows;
}

}  // namespace ft::jinja
