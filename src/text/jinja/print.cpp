// Python's str() and repr() of values.
#include <charconv>
#include <cmath>

#include "text/jinja/unicode.h"
#include "text/jinja/value.h"

namespace ft::jinja {

namespace {

std::string escaped(uint32_t c) {
  if (c < 0x100) return fmt::format("\\x{:02x}", c);
  if (c < 0x10000) return fmt::format("\\u{:04x}", c);
  return fmt::format("\\U{:08x}", c);
}

// Prints values into one text. Strings inside of lists and dicts lose their origin: all of it
// counts as content.
class ReprWriter {
 public:
  explicit ReprWriter(Run& run) : run_(run), out_(run) {}

  void write(const Value& value) {
    run_.charge(1);
    if (const Text* text = value.text()) return write_text(text->bytes());
    if (const List* list = value.list()) return write_list(*list);
    if (const Dict* dict = value.dict()) return write_dict(*dict);
    if (auto space = value.get<Namespace*>()) return write_namespace(**space);
    if (value.is_undefined()) return put("Undefined");
    put(to_text(run_, value)->bytes());
  }
  TextRef finish() { return out_.finish(); }

 private:
  void put(std::string_view bytes) { out_.append(bytes, Origin::kContent); }

  void write_text(std::string_view bytes) {
    bool has_single = bytes.find('\'') != std::string_view::npos;
    bool has_double = bytes.find('"') != std::string_view::npos;
    char quote = has_single && !has_double ? '"' : '\'';
    std::string written(1, quote);
    for (size_t position = 0; position < bytes.size();) {
      size_t begin = position;
      uint32_t c = next_code_point(bytes, position);
      if (c == static_cast<uint32_t>(quote) || c == '\\') {
        written += '\\';
        written += static_cast<char>(c);
      } else if (c == '\n' || c == '\r' || c == '\t') {
        written += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
      } else if (is_printable(c)) {
        written += bytes.substr(begin, position - begin);
      } else {
        written += escaped(c);
      }
    }
    put(written += quote);
  }

  void write_items(const std::vector<Value>& items) {
    Deeper deeper(run_);
    bool is_first = true;
    for (const Value& item : items) {
      if (!is_first) put(", ");
      is_first = false;
      write(item);
    }
  }

  void write_list(const List& list) {
    if (list.kind == ListKind::kTuple) {
      put("(");
      write_items(list.items);
      put(list.items.size() == 1 ? ",)" : ")");
    } else if (list.kind == ListKind::kRange || list.is_generator()) {
      run_.refuse("printing a {} is not supported; '|list' makes it printable", type_name(&list));
    } else {
      bool is_view = list.kind != ListKind::kList;
      if (is_view) put(fmt::format("{}(", type_name(&list)));
      put("[");
      write_items(list.items);
      put(is_view ? "])" : "]");
    }
  }

  void write_dict(const Dict& dict) {
    Deeper deeper(run_);
    put("{");
    bool is_first = true;
    for (const auto& [key, value] : dict.entries()) {
      if (!is_first) put(", ");
      is_first = false;
      write(key);
      put(": ");
      write(value);
    }
    put("}");
  }

  void write_namespace(const Namespace& space) {
    put("<Namespace ");
    write_dict(space.names);
    put(">");
  }

  Run& run_;
  TextBuilder out_;
};

}  // namespace

std::string float_repr(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  char buffer[32];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::scientific);
  std::string_view written(buffer, static_cast<size_t>(end.ptr - buffer));
  std::string sign = written.front() == '-' ? "-" : "";
  written.remove_prefix(sign.size());
  size_t e = written.find('e');
  std::string_view power = written.substr(written[e + 1] == '+' ? e + 2 : e + 1);
  int exponent = 0;
  std::from_chars(power.data(), power.data() + power.size(), exponent);
  std::string digits(written.substr(0, 1));
  if (e > 2) digits += written.substr(2, e - 2);

  int n_digits = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    std::string fraction = n_digits > 1 ? "." + digits.substr(1) : "";
    return fmt::format("{}{}{}e{}{:02}", sign, digits[0], fraction, exponent < 0 ? '-' : '+',
                       std::abs(exponent));
  }
  if (exponent < 0) {
    return sign + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  }
  if (n_digits <= exponent + 1) {
    return sign + digits + std::string(static_cast<size_t>(exponent + 1 - n_digits), '0') + ".0";
  }
  auto point = static_cast<size_t>(exponent + 1);
  return sign + digits.substr(0, point) + "." + digits.substr(point);
}

TextRef to_text(Run& run, const Value& value) {
  if (const TextRef* text = value.get<TextRef>()) return *text;
  if (const bool* flag = value.get<bool>()) return made(run, *flag ? "True" : "False");
  if (const int64_t* integer = value.get<int64_t>()) return made(run, fmt::format("{}", *integer));
  if (const double* number = value.get<double>()) return made(run, float_repr(*number));
  if (value.is_none()) return made(run, "None");
  if (value.is_undefined()) return made(run, "");
  if (value.is<const Callable*>() || value.is<Loop*>()) {
    run.refuse("printing a {} is not supported", type_name(value));
  }
  return to_repr(run, value);
}

TextRef to_repr(Run& run, const Value& value) {
  ReprWriter writer(run);
  writer.write(value);
  return writer.finish();
}

}  // namespace ft::jinja
