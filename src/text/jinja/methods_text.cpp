// The methods of str that give strings or lists of strings.
#include <algorithm>

#include "text/jinja/access.h"
#include "text/jinja/text_ops.h"
#include "text/jinja/unicode.h"

namespace ft::jinja {

namespace {

constexpr size_t kNone = std::string_view::npos;

const TextRef& self(const NativeCall& call) {
  return *call.self.get<TextRef>();
}

template <Side kSide>
Value strip_method(NativeCall& call) {
  TextRef chars = call.has_value(0) ? call.text(0) : nullptr;
  return strip(call.run, self(call), kSide, chars.get());
}

template <Case kCase>
Value case_method(NativeCall& call) {
  return with_case(call.run, *self(call), kCase);
}

Value capitalize_method(NativeCall& call) {
  return capitalized(call.run, *self(call));
}

Value swapcase_method(NativeCall& call) {
  const Text& text = *self(call);
  TextBuilder out(call.run);
  for (size_t position = 0; position < text.size();) {
    size_t begin = position;
    uint32_t c = next_code_point(text.bytes(), position);
    if (c >= 0x80) call.run.refuse("swapcase() of other than ASCII is not supported");
    bool is_letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
    out.append_char(is_letter ? c ^ 0x20 : c, text.origin_at(begin));
  }
  return out.finish();
}

Value replace_method(NativeCall& call) {
  return replace(call.run, self(call), *call.text(0), *call.text(1), call.integer(2, -1));
}

// Pieces between white space; `n_max` splits at most, counted from the left;
// below 0: all.
std::vector<Value> split_space(Run& run, const TextRef& text, int64_t n_max) {
  std::vector<Value> pieces;
  std::string_view bytes = text->bytes();
  size_t position = skip_space(bytes, 0);
  while (position < bytes.size()) {
    run.charge(1);
    if (n_max == 0) {
      pieces.push_back(slice(run, text, position, bytes.size()));
      break;
    }
    if (n_max > 0) --n_max;
    size_t end = position;
    for (size_t after = end; end < bytes.size() && !is_space(next_code_point(bytes, after));
         end = after) {
    }
    pieces.push_back(slice(run, text, position, end));
    position = skip_space(bytes, end);
  }
  return pieces;
}

std::vector<Value> split_at(Run& run, const TextRef& text, const Text& separator, int64_t n_max) {
  std::vector<Value> pieces;
  size_t begin = 0;
  for (int64_t n = 0; n != n_max; ++n) {
    run.charge(1);
    size_t found = find_bytes(text->bytes(), separator.bytes(), begin);
    if (found == kNone) break;
    pieces.push_back(slice(run, text, begin, found));
    begin = found + separator.size();
  }
  pieces.push_back(slice(run, text, begin, text->size()));
  return pieces;
}

// As split_at, but the splits are counted from the right.
std::vector<Value> split_at_right(Run& run, const TextRef& text, const Text& separator,
                                  int64_t n_max) {
  std::string_view bytes = text->bytes();
  std::string backwards(bytes.rbegin(), bytes.rend());
  std::string wanted(separator.bytes().rbegin(), separator.bytes().rend());
  std::vector<Value> pieces;
  size_t begin = 0;  // in `backwards`
  for (int64_t n = 0; n != n_max; ++n) {
    run.charge(1);
    size_t found = find_bytes(backwards, wanted, begin);
    if (found == kNone) break;
    pieces.push_back(slice(run, text, bytes.size() - found, bytes.size() - begin));
    begin = found + wanted.size();
  }
  pieces.push_back(slice(run, text, 0, bytes.size() - begin));
  std::reverse(pieces.begin(), pieces.end());
  return pieces;
}

Value split_method(NativeCall& call) {
  int64_t n_max = call.integer(1, -1);
  if (!call.has_value(0)) return make_list(call.run, split_space(call.run, self(call), n_max));
  TextRef separator = call.text(0);
  if (separator->size() == 0) call.run.fault("split() needs a separator that is not empty");
  return make_list(call.run, split_at(call.run, self(call), *separator, n_max));
}

Value rsplit_method(NativeCall& call) {
  int64_t n_max = call.integer(1, -1);
  if (!call.has_value(0)) {
    if (n_max >= 0) call.run.refuse("rsplit() at white space with a limit is not supported");
    return make_list(call.run, split_space(call.run, self(call), -1));
  }
  TextRef separator = call.text(0);
  if (separator->size() == 0) call.run.fault("rsplit() needs a separator that is not empty");
  return make_list(call.run, split_at_right(call.run, self(call), *separator, n_max));
}

Value splitlines_method(NativeCall& call) {
  std::vector<Value> lines;
  for (TextRef& line : split_lines(call.run, self(call), call.flag(0, false))) {
    lines.emplace_back(std::move(line));
  }
  return make_list(call.run, std::move(lines));
}

template <Side kSide>
Value partition_method(NativeCall& call) {
  const TextRef& text = self(call);
  TextRef separator = call.text(0);
  if (separator->size() == 0) call.run.fault("{}() needs a separator", call.name);
  bool is_left = kSide == Side::kLeft;
  size_t found = is_left ? find_bytes(text->bytes(), separator->bytes())
                         : find_last_bytes(text->bytes(), separator->bytes());
  TextRef none = made(call.run, "");
  std::vector<Value> parts;
  if (found != kNone) {
    size_t end = found + separator->size();
    parts = {slice(call.run, text, 0, found), slice(call.run, text, found, end),
             slice(call.run, text, end, text->size())};
  } else if (is_left) {
    parts = {text, none, none};
  } else {
    parts = {none, none, text};
  }
  return make_list(call.run, std::move(parts), ListKind::kTuple);
}

Value join_method(NativeCall& call) {
  std::vector<TextRef> parts;
  for (const Value& item : take_items(call.run, call.arg(0))) {
    if (!item.text()) call.run.fault("join() needs strings, not {}", type_name(item));
    parts.push_back(*item.get<TextRef>());
  }
  return join(call.run, *self(call), parts);
}

template <Side kSide>
Value pad_method(NativeCall& call) {
  TextRef fill = call.text(1, " ");
  if (fill->n_chars() != 1) call.run.fault("{}() needs one character to fill with", call.name);
  return pad(call.run, self(call), call.integer(0, 0), kSide, *fill);
}

Value zfill_method(NativeCall& call) {
  const TextRef& text = self(call);
  auto n_chars = static_cast<int64_t>(text->n_chars());
  int64_t n_missing = std::max(call.integer(0, 0), n_chars) - n_chars;
  size_t n_sign = text->bytes().starts_with('-') || text->bytes().starts_with('+') ? 1 : 0;
  TextBuilder out(call.run);
  out.append(*text, 0, n_sign);
  for (; n_missing > 0; --n_missing) {
    call.run.charge(1);
    out.append("0", Origin::kTemplate);
  }
  out.append(*text, n_sign, text->size());
  return out.finish();
}

Value removeprefix_method(NativeCall& call) {
  TextRef prefix = call.text(0);
  const TextRef& text = self(call);
  bool has_it = text->bytes().starts_with(prefix->bytes());
  return slice(call.run, text, has_it ? prefix->size() : 0, text->size());
}

Value removesuffix_method(NativeCall& call) {
  TextRef suffix = call.text(0);
  const TextRef& text = self(call);
  bool has_it = text->bytes().ends_with(suffix->bytes());
  return slice(call.run, text, 0, text->size() - (has_it ? suffix->size() : 0));
}

// The value of the field `name` of "{name}".
Value format_field(NativeCall& call, std::string_view name, size_t& n_auto) {
  const Args& args = call.args;
  if (name.find_first_of(".[:!{") != std::string_view::npos) {
    call.run.refuse("the field '{{{}}}' of format() is not supported", name);
  }
  bool is_number = !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
  if (name.empty() || is_number) {
    if (is_number && name.size() > 6) call.run.fault("format() has no argument {}", name);
    size_t index = is_number ? std::stoul(std::string(name)) : n_auto++;
    if (index >= args.positional.size()) call.run.fault("format() has no argument {}", index);
    return args.positional[index];
  }
  for (const auto& [key, value] : args.named) {
    if (key == name) return value;
  }
  call.run.fault("format() has no argument '{}'", name);
}

Value format_method(NativeCall& call) {
  const Text& text = *self(call);
  std::string_view bytes = text.bytes();
  TextBuilder out(call.run);
  size_t n_auto = 0;
  for (size_t position = 0; position < bytes.size();) {
    size_t brace = std::min(bytes.find_first_of("{}", position), bytes.size());
    out.append(text, position, brace);
    if (brace == bytes.size()) break;
    if (brace + 1 < bytes.size() && bytes[brace + 1] == bytes[brace]) {
      out.append(text, brace, brace + 1);
      position = brace + 2;
      continue;
    }
    size_t end = bytes.find('}', brace);
    if (bytes[brace] == '}' || end == kNone)
      call.run.fault("format(): a single '{}'", bytes[brace]);
    Value value = format_field(call, bytes.substr(brace + 1, end - brace - 1), n_auto);
    out.append(*to_text(call.run, value));
    position = end + 1;
  }
  return out.finish();
}

constexpr Native kRows[] = {
    {"capitalize", "/", capitalize_method},
    {"casefold", "*", refuse_call},
    {"center", "/width fill?", pad_method<Side::kBoth>},
    {"encode", "*", refuse_call},
    {"expandtabs", "*", refuse_call},
    {"format", "*", format_method},
    {"format_map", "*", refuse_call},
    {"join", "/items", join_method},
    {"ljust", "/width fill?", pad_method<Side::kRight>},
    {"lower", "/", case_method<Case::kLower>},
    {"lstrip", "/chars?", strip_method<Side::kLeft>},
    {"maketrans", "*", refuse_call},
    {"partition", "/separator", partition_method<Side::kLeft>},
    {"removeprefix", "/prefix", removeprefix_method},
    {"removesuffix", "/suffix", removesuffix_method},
    {"replace", "/old new count?", replace_method},
    {"rjust", "/width fill?", pad_method<Side::kLeft>},
    {"rpartition", "/separator", partition_method<Side::kRight>},
    {"rsplit", "sep? maxsplit?", rsplit_method},
    {"rstrip", "/chars?", strip_method<Side::kRight>},
    {"split", "sep? maxsplit?", split_method},
    {"splitlines", "keepends?", splitlines_method},
    {"strip", "/chars?", strip_method<Side::kBoth>},
    {"swapcase", "/", swapcase_method},
    {"title", "/", case_method<Case::kTitle>},
    {"translate", "*", refuse_call},
    {"upper", "/", case_method<Case::kUpper>},
    {"zfill", "/width", zfill_method},
};

}  // namespace

std::span<const Native> text_methods() {
  return kRows;
}

}  // namespace ft::jinja
