// int, float, round, abs: Python's conversions.
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "text/jinja/access.h"
#include "text/jinja/filters.h"
#include "text/jinja/unicode.h"

namespace ft::jinja {

namespace {

// Digits of any script as ASCII, without white space around. Underscores go if they stand between
// digits; elsewhere they stay and spoil the number, as they should.
std::string plain_digits(std::string_view text) {
  text = text.substr(0, trim_space_end(text, text.size()));
  std::string plain;
  for (size_t position = skip_space(text, 0); position < text.size();) {
    size_t begin = position;
    uint32_t c = next_code_point(text, position);
    if (is_decimal(c)) {
      plain += static_cast<char>('0' + digit_value(c));
    } else {
      plain += text.substr(begin, position - begin);
    }
  }
  std::string result;
  for (size_t i = 0; i < plain.size(); ++i) {
    bool is_between = i > 0 && i + 1 < plain.size() &&
                      std::isalnum(static_cast<unsigned char>(plain[i - 1])) &&
                      std::isalnum(static_cast<unsigned char>(plain[i + 1]));
    if (plain[i] != '_' || !is_between) result += plain[i];
  }
  return result;
}

// Python's int(text, base); nothing if the text is not such a number. Errors: kBadInput beyond 64
// bits.
std::optional<int64_t> parse_integer(Run& run, std::string_view text, int64_t base) {
  std::string digits = plain_digits(text);
  bool is_negative = digits.starts_with('-');
  size_t begin = is_negative || digits.starts_with('+') ? 1 : 0;
  std::string_view rest = std::string_view(digits).substr(begin);
  if (rest.size() > 2 && rest[0] == '0') {
    char letter = static_cast<char>(rest[1] | 0x20);
    int64_t implied = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
    if (implied != 0 && (base == implied || base == 0)) {
      rest.remove_prefix(2);
      base = implied;
    }
  }
  if (base == 0) {
    if (rest.size() > 1 && rest[0] == '0' &&
        rest.find_first_not_of('0') != std::string_view::npos) {
      return std::nullopt;
    }
    base = 10;
  }
  if (base < 2 || base > 36 || rest.empty() || rest[0] == '-') return std::nullopt;
  uint64_t magnitude = 0;
  auto result =
      std::from_chars(rest.data(), rest.data() + rest.size(), magnitude, static_cast<int>(base));
  if (result.ptr != rest.data() + rest.size()) return std::nullopt;
  uint64_t limit = static_cast<uint64_t>(INT64_MAX) + (is_negative ? 1 : 0);
  if (result.ec != std::errc() || magnitude > limit)
    run.fault("the integer {} does not fit in 64 bits", digits);
  return static_cast<int64_t>(is_negative ? 0 - magnitude : magnitude);
}

// Python's float(text).
std::optional<double> parse_float(std::string_view text) {
  std::string digits = plain_digits(text);
  for (char& c : digits) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::string_view rest = digits;
  double sign = rest.starts_with('-') ? -1 : 1;
  if (rest.starts_with('-') || rest.starts_with('+')) rest.remove_prefix(1);
  if (rest == "inf" || rest == "infinity") return sign * HUGE_VAL;
  if (rest == "nan") return std::nan("");
  if (rest.empty() || rest.find_first_not_of("0123456789.e+-") != std::string_view::npos ||
      rest[0] == '-' || rest[0] == '+') {
    return std::nullopt;
  }
  double number = 0;
  auto result = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (result.ptr != rest.data() + rest.size() || result.ec == std::errc::invalid_argument)
    return std::nullopt;
  if (result.ec == std::errc::result_out_of_range)
    number = std::strtod(std::string(rest).c_str(), nullptr);
  return sign * number;
}

// Python's int(number): towards zero. NaN gives nothing.
std::optional<int64_t> truncated(Run& run, double number) {
  if (std::isnan(number)) return std::nullopt;
  if (!(number >= -0x1p63 && number < 0x1p63))
    run.fault("{} does not fit in 64 bits", float_repr(number));
  return static_cast<int64_t>(number);
}

std::optional<double> to_float(NativeCall& call) {
  if (auto undefined = call.self.get<Undefined>()) fault_undefined(call.run, *undefined);
  if (auto number = as_number(call.self)) return number;
  if (const Text* text = call.self.text()) return parse_float(text->bytes());
  return std::nullopt;
}

Value int_filter(NativeCall& call) {
  if (auto integer = as_integer(call.self)) return *integer;
  if (const Text* text = call.self.text()) {
    if (auto integer = parse_integer(call.run, text->bytes(), call.integer(1, 10))) return *integer;
  }
  if (auto number = to_float(call)) {
    if (auto integer = truncated(call.run, *number)) return *integer;
  }
  return call.has(0) ? call.arg(0) : Value(int64_t{0});
}

Value float_filter(NativeCall& call) {
  if (auto number = to_float(call)) return *number;
  return call.has(0) ? call.arg(0) : Value(0.0);
}

Value abs_filter(NativeCall& call) {
  if (auto undefined = call.self.get<Undefined>()) fault_undefined(call.run, *undefined);
  if (auto integer = as_integer(call.self)) {
    if (*integer == INT64_MIN) call.run.fault("abs: the result does not fit in 64 bits");
    return std::abs(*integer);
  }
  auto number = as_number(call.self);
  if (!number) call.run.fault("abs: a number is needed, not {}", type_name(call.self));
  return std::abs(*number);
}

// Half to even on the exact binary value, as printf does it.
double rounded(double number, int64_t precision) {
  if (!std::isfinite(number) || precision > 330) return number;
  if (precision < -330) return std::copysign(0.0, number);
  if (precision >= 0) {
    return std::strtod(fmt::format("{:.{}f}", number, precision).c_str(), nullptr);
  }
  double unit = std::pow(10.0, static_cast<double>(-precision));
  return std::nearbyint(number / unit) * unit;
}

Value round_filter(NativeCall& call) {
  if (auto undefined = call.self.get<Undefined>()) fault_undefined(call.run, *undefined);
  auto number = as_number(call.self);
  if (!number) call.run.fault("round: a number is needed, not {}", type_name(call.self));
  int64_t precision = call.integer(0, 0);
  std::string method(call.text(1, "common")->bytes());
  if (method == "common") {
    if (auto integer = as_integer(call.self)) {
      if (precision >= 0) return *integer;
      call.run.refuse("round: an integer with a negative precision is not supported");
    }
    return rounded(*number, precision);
  }
  if (method != "ceil" && method != "floor")
    call.run.fault("round: the method is common, ceil or floor");
  if (precision < 0 || precision > 300) call.run.refuse("round: this precision is not supported");
  double unit = std::pow(10.0, static_cast<double>(precision));
  double scaled = *number * unit;
  if (!std::isfinite(scaled)) call.run.fault("round: the number is too large");
  return (method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / unit;
}

constexpr Native kRows[] = {
    {"abs", "", abs_filter},
    {"float", "default?", float_filter},
    {"int", "default? base?", int_filter},
    {"round", "precision? method?", round_filter},
};

}  // namespace

std::span<const Native> number_filters() {
  return kRows;
}

}  // namespace ft::jinja
