// The methods of str that ask: where, how often, of which kind.
#include <algorithm>

#include "text/jinja/access.h"
#include "text/jinja/unicode.h"

namespace ft::jinja {

namespace {

constexpr size_t kNone = std::string_view::npos;

const Text& self(const NativeCall& call) {
  return *call.self.text();
}

// The part of the text that optional arguments `start` and `stop` (in chars) select, as bytes.
struct Window {
  size_t begin;
  size_t end;
  bool is_valid;  // start is not behind stop
};

Window window(const NativeCall& call, size_t first) {
  const Text& text = self(call);
  auto n = static_cast<int64_t>(text.n_chars());
  auto fit = [&](int64_t index) { return index < 0 ? std::max<int64_t>(index + n, 0) : index; };
  int64_t start = call.has_value(first) ? fit(call.integer(first, 0)) : 0;
  int64_t stop = call.has_value(first + 1) ? fit(call.integer(first + 1, 0)) : n;
  stop = std::min(stop, n);
  if (start > stop) return {0, 0, false};
  return {text.offset_of(static_cast<size_t>(start)), text.offset_of(static_cast<size_t>(stop)),
          true};
}

template <bool kAtStart>
bool has_affix(const NativeCall& call, const Value& affix) {
  if (!affix.text()) call.run.fault("{}() needs a str, not {}", call.name, type_name(affix));
  Window part = window(call, 1);
  if (!part.is_valid) return false;
  std::string_view bytes = self(call).bytes().substr(part.begin, part.end - part.begin);
  std::string_view wanted = affix.text()->bytes();
  return kAtStart ? bytes.starts_with(wanted) : bytes.ends_with(wanted);
}

template <bool kAtStart>
Value affix_method(NativeCall& call) {
  const List* list = call.arg(0).list();
  if (!list || list->kind != ListKind::kTuple) return has_affix<kAtStart>(call, call.arg(0));
  return std::any_of(list->items.begin(), list->items.end(),
                     [&](const Value& affix) { return has_affix<kAtStart>(call, affix); });
}

template <bool kFromLeft, bool kMustExist>
Value find_method(NativeCall& call) {
  TextRef wanted = call.text(0);
  Window part = window(call, 1);
  std::string_view bytes = self(call).bytes().substr(part.begin, part.end - part.begin);
  size_t found = kNone;
  if (part.is_valid) {
    found =
        kFromLeft ? find_bytes(bytes, wanted->bytes()) : find_last_bytes(bytes, wanted->bytes());
  }
  if (found != kNone) return static_cast<int64_t>(self(call).char_of(part.begin + found));
  if (kMustExist)
    call.run.fault("{}(): the string does not contain '{}'", call.name, wanted->bytes());
  return int64_t{-1};
}

Value count_method(NativeCall& call) {
  TextRef wanted = call.text(0);
  Window part = window(call, 1);
  if (!part.is_valid) return int64_t{0};
  std::string_view bytes = self(call).bytes().substr(part.begin, part.end - part.begin);
  if (wanted->size() == 0) return static_cast<int64_t>(count_chars(bytes)) + 1;
  int64_t n = 0;
  for (size_t at = find_bytes(bytes, wanted->bytes()); at != kNone; ++n) {
    call.run.charge(1);
    at = find_bytes(bytes, wanted->bytes(), at + wanted->size());
  }
  return n;
}

// True if there are chars and all of them are of the class.
template <bool (*kIsOfClass)(uint32_t)>
Value class_method(NativeCall& call) {
  std::string_view bytes = self(call).bytes();
  for (size_t position = 0; position < bytes.size();) {
    if (!kIsOfClass(next_code_point(bytes, position))) return false;
  }
  return !bytes.empty();
}

bool is_alnum(uint32_t c) {
  return is_alpha(c) || is_numeric(c);
}

Value isascii_method(NativeCall& call) {
  return self(call).is_ascii();
}

// True if there are cased chars and all of them are of the class.
template <bool (*kIsOfCase)(uint32_t)>
Value case_test(NativeCall& call) {
  bool has_cased = false;
  std::string_view bytes = self(call).bytes();
  for (size_t position = 0; position < bytes.size();) {
    uint32_t c = next_code_point(bytes, position);
    if (is_cased(c) && !kIsOfCase(c)) return false;
    has_cased = has_cased || is_cased(c);
  }
  return has_cased;
}

Value istitle_method(NativeCall& call) {
  bool has_cased = false, is_in_word = false;
  std::string_view bytes = self(call).bytes();
  for (size_t position = 0; position < bytes.size();) {
    uint32_t c = next_code_point(bytes, position);
    bool is_capital = is_upper(c) || is_title(c);
    if (is_in_word ? is_capital : is_lower(c)) return false;
    is_in_word = is_cased(c);
    has_cased = has_cased || is_in_word;
  }
  return has_cased;
}

constexpr Native kRows[] = {
    {"count", "/sub start? end?", count_method},
    {"endswith", "/suffix start? end?", affix_method<false>},
    {"find", "/sub start? end?", find_method<true, false>},
    {"index", "/sub start? end?", find_method<true, true>},
    {"isalnum", "/", class_method<is_alnum>},
    {"isalpha", "/", class_method<is_alpha>},
    {"isascii", "/", isascii_method},
    {"isdecimal", "/", class_method<is_decimal>},
    {"isdigit", "/", class_method<is_digit>},
    {"isidentifier", "*", refuse_call},
    {"islower", "/", case_test<is_lower>},
    {"isnumeric", "/", class_method<is_numeric>},
    {"isprintable", "*", refuse_call},
    {"isspace", "/", class_method<is_space>},
    {"istitle", "/", istitle_method},
    {"isupper", "/", case_test<is_upper>},
    {"rfind", "/sub start? end?", find_method<false, false>},
    {"rindex", "/sub start? end?", find_method<false, true>},
    {"startswith", "/prefix start? end?", affix_method<true>},
};

}  // namespace

std::span<const Native> text_search_methods() {
  return kRows;
}

}  // namespace ft::jinja
