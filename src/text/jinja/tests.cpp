// The tests: value is defined, is string, is divisibleby 3, ...
#include "text/jinja/access.h"
#include "text/jinja/eval.h"
#include "text/jinja/filters.h"
#include "text/jinja/ops.h"

namespace ft::jinja {

namespace {

Value is_defined(NativeCall& call) {
  return !call.self.is_undefined();
}
Value is_undefined(NativeCall& call) {
  return call.self.is_undefined();
}
Value is_none(NativeCall& call) {
  return call.self.is_none();
}
Value is_boolean(NativeCall& call) {
  return call.self.is<bool>();
}
Value is_integer(NativeCall& call) {
  return call.self.is<int64_t>();
}
Value is_float(NativeCall& call) {
  return call.self.is<double>();
}
Value is_number(NativeCall& call) {
  return as_number(call.self).has_value();
}
Value is_string(NativeCall& call) {
  return call.self.text() != nullptr;
}
Value is_mapping(NativeCall& call) {
  return call.self.dict() != nullptr;
}
Value is_callable(NativeCall& call) {
  // An undefined value has a __call__, if only to complain.
  return call.self.is<const Callable*>() || call.self.is_undefined();
}
Value is_iterable_test(NativeCall& call) {
  return is_iterable(call.self);
}
Value is_escaped(NativeCall& call) {
  return call.self.text() && call.self.text()->is_markup();
}
Value is_filter_test(NativeCall& call) {
  return call.self.text() && is_filter(call.self.text()->bytes());
}
Value is_test_test(NativeCall& call) {
  return call.self.text() && is_test(call.self.text()->bytes());
}

Value is_sequence(NativeCall& call) {
  const List* list = call.self.list();
  return call.self.text() || call.self.dict() || call.self.is_undefined() ||
         (list && list->is_indexable());
}

template <bool kWanted>
Value is_constant(NativeCall& call) {
  const bool* flag = call.self.get<bool>();
  return flag && *flag == kWanted;
}

bool has_remainder(NativeCall& call, const Value& divisor, int64_t remainder) {
  Value rest = arithmetic(call.run, Op::kModulo, call.self, divisor);
  return equals(call.run, rest, remainder);
}
Value is_odd(NativeCall& call) {
  return has_remainder(call, int64_t{2}, 1);
}
Value is_even(NativeCall& call) {
  return has_remainder(call, int64_t{2}, 0);
}
Value is_divisibleby(NativeCall& call) {
  return has_remainder(call, call.arg(0), 0);
}

// The same object: constants and containers by identity, numbers and strings by value and type.
Value is_sameas(NativeCall& call) {
  if (call.self.data().index() != call.arg(0).data().index()) return false;
  if (const List* list = call.self.list()) return list == call.arg(0).list();
  if (const Dict* dict = call.self.dict()) return dict == call.arg(0).dict();
  return equals(call.run, call.self, call.arg(0));
}

Value is_in(NativeCall& call) {
  return contains(call.run, call.arg(0), call.self);
}
Value is_equal(NativeCall& call) {
  return equals(call.run, call.self, call.arg(0));
}
Value is_not_equal(NativeCall& call) {
  return !equals(call.run, call.self, call.arg(0));
}

// `accepts` says whether an order (negative, zero, positive) will do.
bool is_ordered(NativeCall& call, bool (*accepts)(int)) {
  for (const Value* side : {static_cast<const Value*>(&call.self), &call.arg(0)}) {
    if (auto undefined = side->get<Undefined>()) fault_undefined(call.run, *undefined);
  }
  auto order = compare(call.run, call.self, call.arg(0), call.name);
  return order && accepts(*order);
}
Value is_less(NativeCall& call) {
  return is_ordered(call, [](int order) { return order < 0; });
}
Value is_less_equal(NativeCall& call) {
  return is_ordered(call, [](int order) { return order <= 0; });
}
Value is_greater(NativeCall& call) {
  return is_ordered(call, [](int order) { return order > 0; });
}
Value is_greater_equal(NativeCall& call) {
  return is_ordered(call, [](int order) { return order >= 0; });
}

Value ask_text(NativeCall& call, std::string_view method) {
  Value text = to_text(call.run, call.self);
  return call.evaluator.call(*get_attribute(call.run, text, method), {});
}
Value is_lower_test(NativeCall& call) {
  return ask_text(call, "islower");
}
Value is_upper_test(NativeCall& call) {
  return ask_text(call, "isupper");
}

constexpr Native kRows[] = {
    {"!=", "/other", is_not_equal},
    {"<", "/other", is_less},
    {"<=", "/other", is_less_equal},
    {"==", "/other", is_equal},
    {">", "/other", is_greater},
    {">=", "/other", is_greater_equal},
    {"boolean", "", is_boolean},
    {"callable", "", is_callable},
    {"defined", "", is_defined},
    {"divisibleby", "num", is_divisibleby},
    {"eq", "/other", is_equal},
    {"equalto", "/other", is_equal},
    {"escaped", "", is_escaped},
    {"even", "", is_even},
    {"false", "", is_constant<false>},
    {"filter", "", is_filter_test},
    {"float", "", is_float},
    {"ge", "/other", is_greater_equal},
    {"greaterthan", "/other", is_greater},
    {"gt", "/other", is_greater},
    {"in", "seq", is_in},
    {"integer", "", is_integer},
    {"iterable", "", is_iterable_test},
    {"le", "/other", is_less_equal},
    {"lessthan", "/other", is_less},
    {"lower", "", is_lower_test},
    {"lt", "/other", is_less},
    {"mapping", "", is_mapping},
    {"ne", "/other", is_not_equal},
    {"none", "", is_none},
    {"number", "", is_number},
    {"odd", "", is_odd},
    {"sameas", "other", is_sameas},
    {"sequence", "", is_sequence},
    {"string", "", is_string},
    {"test", "", is_test_test},
    {"true", "", is_constant<true>},
    {"undefined", "", is_undefined},
    {"upper", "", is_upper_test},
};

}  // namespace

std::span<const Native> test_rows() {
  return kRows;
}

}  // namespace ft::jinja
