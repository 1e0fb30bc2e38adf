// The filters and tests that exist, by name.
#pragma once

#include <span>
#include <string_view>

#include "text/jinja/native.h"

namespace ft::jinja {

bool is_filter(std::string_view name);
bool is_test(std::string_view name);

/// value|name(args), value is name(args). Errors: kBadInput for an unknown name and for what the
/// filter refuses.
Value apply_filter(Evaluator& evaluator, std::string_view name, Value self, Args args);
bool apply_test(Evaluator& evaluator, std::string_view name, Value self, Args args);

// The tables, one for each file.
std::span<const Native> text_filters();
std::span<const Native> list_filters();
std::span<const Native> choice_filters();
std::span<const Native> number_filters();
std::span<const Native> test_rows();

}  // namespace ft::jinja
