// Python's arithmetic on 64-bit integers, floats, strings and lists.
#include "text/jinja/ops.h"

#include <algorithm>
#include <cmath>

#include "text/jinja/access.h"
#include "text/jinja/text_ops.h"

namespace ft::jinja {

namespace {

constexpr std::string_view spelling(Op op) {
  switch (op) {
    case Op::kAdd:
      return "+";
    case Op::kSubtract:
      return "-";
    case Op::kMultiply:
      return "*";
    case Op::kDivide:
      return "/";
    case Op::kFloorDivide:
      return "//";
    case Op::kModulo:
      return "%";
    default:
      return "**";
  }
}

[[noreturn]] void fault_types(Run& run, Op op, const Value& a, const Value& b) {
  run.fault("'{}' does not work between {} and {}", spelling(op), type_name(a), type_name(b));
}

[[noreturn]] void fault_overflow(Run& run, Op op, int64_t a, int64_t b) {
  run.fault("{} {} {} does not fit in 64 bits", a, spelling(op), b);
}

int64_t integer_power(Run& run, int64_t base, int64_t exponent) {
  int64_t result = 1;
  int64_t square = base;
  bool is_square_valid = true;
  for (int64_t rest = exponent; rest > 0; rest >>= 1) {
    if (rest & 1) {
      if (!is_square_valid || __builtin_mul_overflow(result, square, &result)) {
        fault_overflow(run, Op::kPower, base, exponent);
      }
    }
    is_square_valid = is_square_valid && !__builtin_mul_overflow(square, square, &square);
  }
  return result;
}

int64_t floor_divide(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

int64_t integer_modulo(int64_t a, int64_t b) {
  if (b == -1) return 0;  // INT64_MIN % -1 has no result in C++
  int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

double float_modulo(double a, double b) {
  double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

double float_floor_divide(double a, double b) {
  double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  double floor = std::floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
}

Value float_power(Run& run, double a, double b) {
  if (a == 0 && b < 0) run.fault("0.0 cannot be raised to a negative power");
  if (a < 0 && std::isfinite(b) && b != std::floor(b)) {
    run.fault("a negative number has no real power of {}", b);
  }
  double result = std::pow(a, b);
  if (std::isinf(result) && std::isfinite(a) && std::isfinite(b)) {
    run.fault("{} ** {} is too large", a, b);
  }
  return result;
}

Value integer_arithmetic(Run& run, Op op, int64_t a, int64_t b) {
  int64_t result = 0;
  bool is_division = op == Op::kDivide || op == Op::kFloorDivide || op == Op::kModulo;
  if (is_division && b == 0) run.fault("division by zero");
  switch (op) {
    case Op::kAdd:
      if (__builtin_add_overflow(a, b, &result)) fault_overflow(run, op, a, b);
      return result;
    case Op::kSubtract:
      if (__builtin_sub_overflow(a, b, &result)) fault_overflow(run, op, a, b);
      return result;
    case Op::kMultiply:
      if (__builtin_mul_overflow(a, b, &result)) fault_overflow(run, op, a, b);
      return result;
    case Op::kDivide:
      return static_cast<double>(a) / static_cast<double>(b);
    case Op::kFloorDivide:
      if (a == INT64_MIN && b == -1) fault_overflow(run, op, a, b);
      return floor_divide(a, b);
    case Op::kModulo:
      return integer_modulo(a, b);
    default:
      if (b >= 0) return integer_power(run, a, b);
      return float_power(run, static_cast<double>(a), static_cast<double>(b));
  }
}

Value float_arithmetic(Run& run, Op op, double a, double b) {
  bool is_division = op == Op::kDivide || op == Op::kFloorDivide || op == Op::kModulo;
  if (is_division && b == 0) run.fault("division by zero");
  switch (op) {
    case Op::kAdd:
      return a + b;
    case Op::kSubtract:
      return a - b;
    case Op::kMultiply:
      return a * b;
    case Op::kDivide:
      return a / b;
    case Op::kFloorDivide:
      return float_floor_divide(a, b);
    case Op::kModulo:
      return float_modulo(a, b);
    default:
      return float_power(run, a, b);
  }
}

Value add_texts(Run& run, const Text& a, const Text& b) {
  if (!a.is_markup() && !b.is_markup()) return concat(run, a, b);
  TextBuilder out(run);
  out.append(a.is_markup() ? a : *escape_html(run, a));
  out.append(b.is_markup() ? b : *escape_html(run, b));
  return out.finish(true);
}

bool is_list_or_tuple(const List* list) {
  return list && (list->kind == ListKind::kList || list->kind == ListKind::kTuple);
}

Value add_lists(Run& run, const List& a, const List& b) {
  run.charge(a.items.size() + b.items.size());
  std::vector<Value> items = a.items;
  items.insert(items.end(), b.items.begin(), b.items.end());
  return make_list(run, std::move(items), a.kind);
}

Value repeat(Run& run, const Value& value, int64_t n) {
  if (const Text* text = value.text()) {
    TextBuilder out(run);
    for (int64_t i = 0; i < n && text->size() > 0; ++i) {
      run.charge(1);
      out.append(*text);
    }
    return out.finish();
  }
  std::vector<Value> items;
  const List& list = *value.list();
  n = list.items.empty() ? 0 : std::max<int64_t>(n, 0);
  uint64_t n_items = 0;
  if (__builtin_mul_overflow(static_cast<uint64_t>(n), list.items.size(), &n_items))
    n_items = UINT64_MAX / 2;
  run.charge(n_items);
  items.reserve(n_items);
  for (; n > 0; --n) items.insert(items.end(), list.items.begin(), list.items.end());
  return make_list(run, std::move(items), list.kind);
}

}  // namespace

Value arithmetic(Run& run, Op op, const Value& a, const Value& b) {
  for (const Value* side : {&a, &b}) {
    if (auto undefined = side->get<Undefined>(); undefined && !(op == Op::kModulo && a.text())) {
      fault_undefined(run, *undefined);
    }
  }
  auto x = as_integer(a), y = as_integer(b);
  if (x && y) return integer_arithmetic(run, op, *x, *y);
  auto p = as_number(a), q = as_number(b);
  if (p && q) return float_arithmetic(run, op, *p, *q);
  if (op == Op::kAdd && a.text() && b.text()) return add_texts(run, *a.text(), *b.text());
  if (op == Op::kAdd && is_list_or_tuple(a.list()) && b.list() &&
      a.list()->kind == b.list()->kind) {
    return add_lists(run, *a.list(), *b.list());
  }
  if (op == Op::kModulo && a.text()) return percent_format(run, *a.text(), b);
  if (op == Op::kMultiply && y && (a.text() || is_list_or_tuple(a.list())))
    return repeat(run, a, *y);
  if (op == Op::kMultiply && x && (b.text() || is_list_or_tuple(b.list())))
    return repeat(run, b, *x);
  fault_types(run, op, a, b);
}

Value signed_value(Run& run, Op op, const Value& a) {
  if (auto undefined = a.get<Undefined>()) fault_undefined(run, *undefined);
  bool is_minus = op == Op::kMinus;
  if (auto integer = as_integer(a)) {
    if (is_minus && *integer == INT64_MIN) run.fault("-({}) does not fit in 64 bits", *integer);
    return is_minus ? -*integer : *integer;
  }
  auto number = as_number(a);
  if (!number) run.fault("a value of type {} has no sign", type_name(a));
  return is_minus ? -*number : *number;
}

}  // namespace ft::jinja
