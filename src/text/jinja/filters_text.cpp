// Filters that give strings.
#include <algorithm>

#include "text/jinja/filters.h"
#include "text/jinja/ops.h"
#include "text/jinja/text_ops.h"
#include "text/jinja/unicode.h"

namespace ft::jinja {

namespace {

TextRef self_text(NativeCall& call) {
  return to_text(call.run, call.self);
}

template <Case kCase>
Value case_filter(NativeCall& call) {
  return with_case(call.run, *self_text(call), kCase);
}

Value capitalize_filter(NativeCall& call) {
  return capitalized(call.run, *self_text(call));
}

// Unlike str.title(): words begin behind white space, hyphens and opening brackets only.
Value title_filter(NativeCall& call) {
  return words_capitalized(call.run, *self_text(call), [](uint32_t c) {
    return is_space(c) || c == '-' || c == '(' || c == '{' || c == '[' || c == '<';
  });
}

Value trim_filter(NativeCall& call) {
  TextRef chars = call.has_value(0) ? call.text(0) : nullptr;
  return strip(call.run, self_text(call), Side::kBoth, chars.get());
}

Value replace_filter(NativeCall& call) {
  TextRef from = to_text(call.run, call.arg(0)), to = to_text(call.run, call.arg(1));
  int64_t n_max = call.has_value(2) ? call.integer(2, -1) : -1;
  return replace(call.run, self_text(call), *from, *to, n_max);
}

Value string_filter(NativeCall& call) {
  return self_text(call);
}

Value safe_filter(NativeCall& call) {
  TextBuilder out(call.run);
  out.append(*self_text(call));
  return out.finish(true);
}

Value escape_filter(NativeCall& call) {
  TextRef text = self_text(call);
  return text->is_markup() ? text : escape_html(call.run, *text);
}

Value forceescape_filter(NativeCall& call) {
  return escape_html(call.run, *self_text(call));
}

Value center_filter(NativeCall& call) {
  return pad(call.run, self_text(call), call.integer(0, 80), Side::kBoth, *made(call.run, " "));
}

Value indent_filter(NativeCall& call) {
  Run& run = call.run;
  if (!call.self.text()) run.fault("indent() needs a str, not {}", type_name(call.self));
  TextRef margin;
  if (call.has(0) && call.arg(0).text()) {
    margin = call.text(0);
  } else {
    margin = pad(run, made(run, ""), call.integer(0, 4), Side::kLeft, *made(run, " "));
  }
  bool indents_first = call.flag(1, false), indents_blank = call.flag(2, false);
  TextRef line_end = made(run, "\n");
  TextBuilder out(run);
  std::vector<TextRef> lines = split_lines(run, concat(run, *self_text(call), *line_end), false);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out.append(*line_end);
    bool is_indented = i == 0 ? indents_first : indents_blank || lines[i]->size() > 0;
    if (is_indented) out.append(*margin);
    out.append(*lines[i]);
  }
  return out.finish();
}

Value format_filter(NativeCall& call) {
  TextRef format = self_text(call);
  if (call.args.named.empty()) {
    Value values = make_list(call.run, call.args.positional, ListKind::kTuple);
    return percent_format(call.run, *format, values);
  }
  if (!call.args.positional.empty()) call.run.fault("format() takes values with or without names");
  Dict* values = call.run.make<Dict>();
  for (auto& [name, value] : call.args.named)
    values->set(call.run, made(call.run, name), std::move(value));
  return percent_format(call.run, *format, static_cast<const Dict*>(values));
}

Value truncate_filter(NativeCall& call) {
  Run& run = call.run;
  TextRef end = call.text(2, "...");
  int64_t length = call.integer(0, 255);
  int64_t leeway = call.has_value(3) ? call.integer(3, 5) : 5;
  auto n_end = static_cast<int64_t>(end->n_chars());
  if (length < n_end || leeway < 0) run.fault("truncate() needs a length of at least its end's");
  auto n_chars = length_of(call.self);
  if (n_chars && *n_chars - leeway <= length) return call.self;
  if (!call.self.text()) run.fault("truncate() needs a str, not {}", type_name(call.self));
  const TextRef& text = *call.self.get<TextRef>();
  size_t stop = text->offset_of(static_cast<size_t>(length - n_end));
  if (!call.flag(1, false)) stop = std::min(stop, text->bytes().substr(0, stop).rfind(' '));
  return concat(run, *slice(run, text, 0, stop), *end);
}

Value wordcount_filter(NativeCall& call) {
  TextRef text = self_text(call);
  int64_t n = 0;
  bool is_in_word = false;
  for (size_t position = 0; position < text->size();) {
    uint32_t c = next_code_point(text->bytes(), position);
    bool is_word_char = c == '_' || is_alpha(c) || is_numeric(c);
    n += is_word_char && !is_in_word ? 1 : 0;
    is_in_word = is_word_char;
  }
  return n;
}

std::string json_indent(NativeCall& call, const Value& wanted) {
  constexpr int64_t kMaxIndent = 1000;
  if (const Text* text = wanted.text()) return std::string(text->bytes());
  auto width = as_integer(wanted);
  if (!width) call.run.fault("tojson: the indent must be an int or a str");
  if (*width > kMaxIndent) call.run.fault("tojson: an indent above {}", kMaxIndent);
  return std::string(static_cast<size_t>(std::max<int64_t>(*width, 0)), ' ');
}

// json.dumps() as the template functions of chat models have it: nothing is escaped for HTML.
Value tojson_filter(NativeCall& call) {
  JsonStyle style;
  style.is_ascii = call.flag(0, false);
  if (call.has_value(1)) {
    style.indent = json_indent(call, call.arg(1));
    style.item_separator = ",";
  }
  if (call.has_value(2)) {
    std::vector<Value> pair = take_items(call.run, call.arg(2));
    if (pair.size() != 2 || !pair[0].text() || !pair[1].text()) {
      call.run.fault("tojson: separators are two strings");
    }
    style.item_separator = pair[0].text()->bytes();
    style.key_separator = pair[1].text()->bytes();
  }
  style.sorts_keys = call.flag(3, false);
  return to_json(call.run, call.self, style);
}

constexpr Native kRows[] = {
    {"capitalize", "", capitalize_filter},
    {"center", "width?", center_filter},
    {"e", "", escape_filter},
    {"escape", "", escape_filter},
    {"filesizeformat", "*", refuse_call},
    {"forceescape", "", forceescape_filter},
    {"format", "*", format_filter},
    {"indent", "width? first? blank?", indent_filter},
    {"lower", "", case_filter<Case::kLower>},
    {"pprint", "*", refuse_call},
    {"replace", "old new count?", replace_filter},
    {"safe", "", safe_filter},
    {"string", "", string_filter},
    {"striptags", "*", refuse_call},
    {"title", "", title_filter},
    {"tojson", "ensure_ascii? indent? separators? sort_keys?", tojson_filter},
    {"trim", "chars?", trim_filter},
    {"truncate", "length? killwords? end? leeway?", truncate_filter},
    {"upper", "", case_filter<Case::kUpper>},
    {"urlencode", "*", refuse_call},
    {"urlize", "*", refuse_call},
    {"wordcount", "", wordcount_filter},
    {"wordwrap", "*", refuse_call},
    {"xmlattr", "*", refuse_call},
};

}  // namespace

std::span<const Native> text_filters() {
  return kRows;
}

}  // namespace ft::jinja
