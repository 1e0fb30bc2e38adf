// The methods of lists, tuples and dicts. Rows without a function are what the sandbox hides: they
// would change the value.
#include "text/jinja/access.h"

namespace ft::jinja {

namespace {

Value list_count(NativeCall& call) {
  int64_t n = 0;
  for (const Value& item : call.self.list()->items)
    n += equals(call.run, item, call.arg(0)) ? 1 : 0;
  return n;
}

Value list_index(NativeCall& call) {
  const auto& items = call.self.list()->items;
  for (size_t i = 0; i < items.size(); ++i) {
    if (equals(call.run, items[i], call.arg(0))) return static_cast<int64_t>(i);
  }
  call.run.fault("index(): the list has no such item");
}

Value list_copy(NativeCall& call) {
  return call.self;
}

Value dict_copy(NativeCall& call) {
  return call.self;
}

Value dict_get(NativeCall& call) {
  if (!is_hashable(call.arg(0))) {
    call.run.fault("{} cannot be a key of a dict", type_name(call.arg(0)));
  }
  const Value* found = call.self.dict()->find(call.run, call.arg(0));
  if (found) return *found;
  return call.has(1) ? call.arg(1) : Value(None{});
}

Value dict_keys(NativeCall& call) {
  std::vector<Value> keys;
  for (const auto& entry : call.self.dict()->entries()) keys.push_back(entry.first);
  return make_list(call.run, std::move(keys), ListKind::kKeys);
}

Value dict_values(NativeCall& call) {
  std::vector<Value> values;
  for (const auto& entry : call.self.dict()->entries()) values.push_back(entry.second);
  return make_list(call.run, std::move(values), ListKind::kValues);
}

Value dict_items(NativeCall& call) {
  std::vector<Value> items;
  for (const auto& [key, value] : call.self.dict()->entries()) {
    items.push_back(make_list(call.run, {key, value}, ListKind::kTuple));
  }
  return make_list(call.run, std::move(items), ListKind::kItems);
}

constexpr Native kListRows[] = {
    {"append", "", nullptr},         {"clear", "*", refuse_call}, {"copy", "/", list_copy},
    {"count", "/value", list_count}, {"extend", "", nullptr},     {"index", "/value", list_index},
    {"insert", "", nullptr},         {"pop", "*", refuse_call},   {"remove", "", nullptr},
    {"reverse", "", nullptr},        {"sort", "", nullptr},
};

constexpr Native kDictRows[] = {
    {"clear", "", nullptr},         {"copy", "/", dict_copy},
    {"fromkeys", "*", refuse_call}, {"get", "/key default?", dict_get},
    {"items", "/", dict_items},     {"keys", "/", dict_keys},
    {"pop", "", nullptr},           {"popitem", "", nullptr},
    {"setdefault", "", nullptr},    {"update", "", nullptr},
    {"values", "/", dict_values},
};

}  // namespace

std::span<const Native> list_methods() {
  return kListRows;
}
std::span<const Native> dict_methods() {
  return kDictRows;
}

}  // namespace ft::jinja
