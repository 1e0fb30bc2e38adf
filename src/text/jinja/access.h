// What the dot and the brackets find in a value, and the methods of strings, lists and dicts.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "text/jinja/native.h"

namespace ft::jinja {

/// a.name: a method or a property first, then an entry. Nothing if there is none. Errors: kBadInput
/// on an undefined value.
std::optional<Value> get_attribute(Run& run, const Value& value, std::string_view name);
/// a[key]: an entry first, then a method or a property.
std::optional<Value> get_item(Run& run, const Value& value, const Value& key);
/// a[start:stop:step]; undefined or None: left out. Errors: kBadInput for a value that has no
/// order.
Value get_slice(Run& run, const Value& value, const Value& start, const Value& stop,
                const Value& step);

/// Throws kBadInput: "'name' is undefined", "a dict has no 'name'".
[[noreturn]] void fault_undefined(Run& run, const Undefined& value);

std::span<const Native> text_methods();
std::span<const Native> text_search_methods();
std::span<const Native> list_methods();
std::span<const Native> dict_methods();

/// The names of range(), namespace() and the like; null for others.
const Native* find_function(std::string_view name);

}  // namespace ft::jinja
