// Filters that apply another filter or a test to each item, and `default`.
#include "text/jinja/filters.h"
#include "text/jinja/getter.h"

namespace ft::jinja {

namespace {

// All of these work at once where the reference works as items are asked for: an item that cannot
// be handled is an Error even if nothing asks for it.
Value made_of(NativeCall& call, std::vector<Value> items) {
  return make_list(call.run, std::move(items), ListKind::kGenerator);
}

std::vector<Value> map_attribute(NativeCall& call) {
  Value attribute = take_named(call.args, "attribute").value_or(None{});
  Value otherwise = take_named(call.args, "default").value_or(None{});
  if (!call.args.named.empty()) {
    call.run.fault("map() has no argument '{}'", call.args.named.front().first);
  }
  std::optional<Value> stand_in;
  if (!otherwise.is_none()) stand_in = std::move(otherwise);
  Getter get(call.run, attribute, std::move(stand_in));
  std::vector<Value> results;
  for (const Value& item : take_items(call.run, call.self)) results.push_back(get(item));
  return results;
}

// The name of a filter or a test in front of its own arguments.
TextRef take_name(NativeCall& call) {
  auto& given = call.args.positional;
  if (given.empty()) call.run.fault("{}() needs a name", call.name);
  const TextRef* name = given.front().get<TextRef>();
  if (!name) call.run.fault("{}() needs a name, not {}", call.name, type_name(given.front()));
  TextRef taken = *name;
  given.erase(given.begin());
  return taken;
}

Value map_filter(NativeCall& call) {
  if (!is_true(call.self)) return made_of(call, {});
  bool has_attribute = false;
  for (const auto& entry : call.args.named) has_attribute |= entry.first == "attribute";
  if (call.args.positional.empty() && has_attribute) return made_of(call, map_attribute(call));
  TextRef name = take_name(call);
  std::vector<Value> results;
  for (const Value& item : take_items(call.run, call.self)) {
    call.run.charge(call.args.positional.size());
    results.push_back(apply_filter(call.evaluator, name->bytes(), item, call.args));
  }
  return made_of(call, std::move(results));
}

// select, reject (the item itself), selectattr, rejectattr (an attribute of it).
template <bool kKeeps, bool kByAttribute>
Value choose_filter(NativeCall& call) {
  if (!is_true(call.self)) return made_of(call, {});
  Value attribute = None{};
  if (kByAttribute) {
    if (call.args.positional.empty()) call.run.fault("{}() needs an attribute", call.name);
    attribute = call.args.positional.front();
    call.args.positional.erase(call.args.positional.begin());
  }
  Getter get(call.run, attribute);
  TextRef name = call.args.positional.empty() ? nullptr : take_name(call);
  std::vector<Value> kept;
  for (const Value& item : take_items(call.run, call.self)) {
    call.run.charge(call.args.positional.size());
    Value tested = get(item);
    bool holds =
        name ? apply_test(call.evaluator, name->bytes(), tested, call.args) : is_true(tested);
    if (holds == kKeeps) kept.push_back(item);
  }
  return made_of(call, std::move(kept));
}

Value default_filter(NativeCall& call) {
  bool is_missing = call.self.is_undefined() || (call.flag(1, false) && !is_true(call.self));
  if (!is_missing) return call.self;
  return call.has(0) ? call.arg(0) : Value(made(call.run, ""));
}

constexpr Native kRows[] = {
    {"attr", "*", refuse_call},
    {"d", "default_value? boolean?", default_filter},
    {"default", "default_value? boolean?", default_filter},
    {"map", "*", map_filter},
    {"reject", "*", choose_filter<false, false>},
    {"rejectattr", "*", choose_filter<false, true>},
    {"select", "*", choose_filter<true, false>},
    {"selectattr", "*", choose_filter<true, true>},
};

}  // namespace

std::span<const Native> choice_filters() {
  return kRows;
}

}  // namespace ft::jinja
