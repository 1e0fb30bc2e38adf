// "format % values", and nothing of it that prints text without its origin.
#include <charconv>
#include <cmath>

#include "text/jinja/ops.h"

namespace ft::jinja {

namespace {

constexpr int64_t kMaxWidth = 1'000'000;

struct Conversion {
  bool is_left = false, is_zero = false, has_sign = false, has_blank = false, is_alternate = false;
  int64_t width = 0;
  int64_t precision = -1;
  char type = 's';
};

class PercentFormatter {
 public:
  PercentFormatter(Run& run, const Text& format, const Value& values)
      : run_(run), format_(format), values_(values), out_(run) {
    const List* list = values.list();
    is_tuple_ = list && list->kind == ListKind::kTuple;
  }

  TextRef format() {
    std::string_view bytes = format_.bytes();
    while (position_ < bytes.size()) {
      size_t percent = std::min(bytes.find('%', position_), bytes.size());
      out_.append(format_, position_, percent);
      position_ = percent;
      if (position_ < bytes.size()) convert();
    }
    size_t n_values = is_tuple_ ? values_.list()->items.size() : 1;
    // What could be asked for names need not be used.
    bool has_items = values_.list() && values_.list()->is_indexable() && !is_tuple_;
    bool may_be_unused = values_.dict() || values_.is_undefined() || has_items;
    if (n_used_ < n_values && !may_be_unused)
      run_.fault("not all values of '%' are used by the format");
    return out_.finish(format_.is_markup());
  }

 private:
  char peek() const { return position_ < format_.size() ? format_.bytes()[position_] : '\0'; }

  Value next_value() {
    if (!is_tuple_) {
      if (n_used_++ > 0) run_.fault("the format needs more values than '%' got");
      return values_;
    }
    if (n_used_ >= values_.list()->items.size())
      run_.fault("the format needs more values than '%' got");
    return values_.list()->items[n_used_++];
  }

  Value value_by_name() {
    size_t end = format_.bytes().find(')', position_);
    if (end == std::string_view::npos) run_.fault("a name in the format has no ')'");
    if (!values_.dict()) run_.fault("the format has names and '%' got no dict");
    std::string_view name = format_.bytes().substr(position_, end - position_);
    const Value* found = values_.dict()->find(run_, name);
    if (!found) run_.fault("the format needs '{}'", name);
    position_ = end + 1;
    return *found;
  }

  int64_t read_number() {
    if (peek() == '*') run_.refuse("'*' in a format is not supported");
    int64_t number = 0;
    for (; peek() >= '0' && peek() <= '9'; ++position_) {
      number = number * 10 + (peek() - '0');
      if (number > kMaxWidth) run_.fault("a width in the format is above {}", kMaxWidth);
    }
    return number;
  }

  void convert() {
    ++position_;
    std::optional<Value> value;
    if (peek() == '(') {
      ++position_;
      value = value_by_name();
    }
    Conversion wanted = read_conversion();
    if (wanted.type == '%') {
      out_.append("%", Origin::kTemplate);
      return;
    }
    if (!value) value = next_value();
    switch (wanted.type) {
      case 's':
        return put_text(to_text(run_, *value), wanted);
      case 'r':
        return put_text(to_repr(run_, *value), wanted);
      case 'd':
      case 'i':
      case 'u':
        return put_integer(*value, wanted);
      case 'x':
      case 'X':
      case 'o':
        return put_unsigned(*value, wanted);
      case 'f':
      case 'F':
      case 'e':
      case 'E':
      case 'g':
      case 'G':
        return put_float(*value, wanted);
      default:
        run_.refuse("the conversion '%{}' is not supported", wanted.type);
    }
  }

  Conversion read_conversion() {
    Conversion wanted;
    for (bool is_flag = true; is_flag; position_ += is_flag ? 1 : 0) {
      switch (peek()) {
        case '-':
          wanted.is_left = true;
          break;
        case '0':
          wanted.is_zero = true;
          break;
        case '+':
          wanted.has_sign = true;
          break;
        case ' ':
          wanted.has_blank = true;
          break;
        case '#':
          wanted.is_alternate = true;
          break;
        default:
          is_flag = false;
      }
    }
    wanted.width = read_number();
    if (peek() == '.') {
      ++position_;
      wanted.precision = read_number();
    }
    if (peek() == '\0') run_.fault("the format ends inside of a conversion");
    wanted.type = peek();
    if (static_cast<unsigned char>(wanted.type) >= 0x80)
      run_.fault("unknown conversion in a format");
    ++position_;
    return wanted;
  }

  void pad(int64_t n_chars, int64_t width) {
    if (n_chars < width) {
      out_.append(std::string(static_cast<size_t>(width - n_chars), ' '), Origin::kTemplate);
    }
  }

  void put_text(const TextRef& text, const Conversion& wanted) {
    auto n_chars = static_cast<int64_t>(text->n_chars());
    if (wanted.precision >= 0 && wanted.precision < n_chars) n_chars = wanted.precision;
    if (!wanted.is_left) pad(n_chars, wanted.width);
    out_.append(*text, 0, text->offset_of(static_cast<size_t>(n_chars)));
    if (wanted.is_left) pad(n_chars, wanted.width);
  }

  // `digits` without sign.
  void put_digits(std::string digits, bool is_negative, const Conversion& wanted) {
    std::string sign = is_negative ? "-" : wanted.has_sign ? "+" : wanted.has_blank ? " " : "";
    auto n_chars = static_cast<int64_t>(sign.size() + digits.size());
    if (wanted.is_zero && !wanted.is_left && n_chars < wanted.width) {
      digits.insert(0, static_cast<size_t>(wanted.width - n_chars), '0');
      n_chars = wanted.width;
    }
    if (!wanted.is_left) pad(n_chars, wanted.width);
    out_.append(sign + digits, Origin::kTemplate);
    if (wanted.is_left) pad(n_chars, wanted.width);
  }

  void put_integer(const Value& value, const Conversion& wanted) {
    auto number = as_number(value);
    if (!number) run_.fault("'%{}' needs a number, not {}", wanted.type, type_name(value));
    auto integer = as_integer(value);
    if (!integer) {
      if (!(std::abs(*number) < 9.2e18)) run_.fault("{} does not fit in 64 bits", *number);
      integer = static_cast<int64_t>(*number);
    }
    put_magnitude(*integer, 10, wanted);
  }

  void put_unsigned(const Value& value, const Conversion& wanted) {
    auto integer = as_integer(value);
    if (!integer) run_.fault("'%{}' needs an int, not {}", wanted.type, type_name(value));
    if (wanted.is_alternate) run_.refuse("'#' in a format is not supported");
    put_magnitude(*integer, wanted.type == 'o' ? 8 : 16, wanted);
  }

  void put_magnitude(int64_t integer, int base, const Conversion& wanted) {
    uint64_t magnitude = static_cast<uint64_t>(integer);
    if (integer < 0) magnitude = 0 - magnitude;
    char buffer[72];
    auto end = std::to_chars(buffer, buffer + sizeof buffer, magnitude, base);
    std::string digits(buffer, end.ptr);
    if (wanted.type == 'X') {
      for (char& c : digits) c = static_cast<char>(c >= 'a' ? c - 'a' + 'A' : c);
    }
    if (wanted.precision > static_cast<int64_t>(digits.size())) {
      digits.insert(0, static_cast<size_t>(wanted.precision) - digits.size(), '0');
    }
    put_digits(std::move(digits), integer < 0, wanted);
  }

  void put_float(const Value& value, const Conversion& wanted) {
    auto number = as_number(value);
    if (!number) run_.fault("'%{}' needs a number, not {}", wanted.type, type_name(value));
    if (wanted.is_alternate) run_.refuse("'#' in a format is not supported");
    int64_t precision = wanted.precision < 0 ? 6 : wanted.precision;
    if (precision > 400) run_.refuse("more than 400 digits in a format are not supported");
    double magnitude = std::abs(*number);
    std::string pattern = fmt::format("{{:.{}{}}}", precision, wanted.type);
    std::string digits = fmt::format(fmt::runtime(pattern), magnitude);
    put_digits(std::move(digits), std::signbit(*number) && !std::isnan(*number), wanted);
  }

  Run& run_;
  const Text& format_;
  const Value& values_;
  TextBuilder out_;
  size_t position_ = 0;
  size_t n_used_ = 0;
  bool is_tuple_ = false;
};

}  // namespace

TextRef percent_format(Run& run, const Text& format, const Value& values) {
  return PercentFormatter(run, format, values).format();
}

}  // namespace ft::jinja
