// JSON to values, by a streaming parser (no second tree, no recursion), and values to JSON as
// Python writes it.
#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "text/jinja/value.h"

namespace ft::jinja {

namespace {

class ValueReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  ValueReader(Run& run, std::string_view where) : run_(run), where_(where) {}

  bool null() override { return add(None{}); }
  bool boolean(bool flag) override { return add(flag); }
  bool number_integer(int64_t integer) override { return add(integer); }
  bool number_unsigned(uint64_t integer) override {
    if (integer > INT64_MAX) too_large(std::to_string(integer));
    return add(static_cast<int64_t>(integer));
  }
  bool number_float(double number, const std::string& digits) override {
    if (digits.find_first_of(".eE") == std::string::npos) too_large(digits);
    return add(number);
  }
  bool string(std::string& text) override { return add(made(run_, text, Origin::kContent)); }
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool start_object(size_t) override {
    Dict* dict = run_.make<Dict>();
    add(static_cast<const Dict*>(dict));
    return open({dict, nullptr, {}});
  }
  bool start_array(size_t) override {
    List* list = run_.make<List>(ListKind::kList, std::vector<Value>());
    add(static_cast<const List*>(list));
    return open({nullptr, list, {}});
  }
  bool key(std::string& text) override {
    open_.back().key = made(run_, text, Origin::kContent);
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::json::exception& error) override {
    std::string_view reason = error.what();
    reason = reason.substr(reason.find("] ") + 2);  // behind the library's own label
    bad_input("{}: not valid JSON at byte {}: {}", where_, position, reason);
  }

  Value root;

 private:
  struct Open {
    Dict* dict;
    List* list;
    Value key;
  };

  [[noreturn]] void too_large(const std::string& digits) const {
    bad_input("{}: the integer {} does not fit in 64 bits; send it as a string", where_, digits);
  }

  bool add(Value value) {
    run_.charge(1);
    if (open_.empty()) {
      root = std::move(value);
    } else if (open_.back().dict != nullptr) {
      open_.back().dict->set(run_, std::move(open_.back().key), std::move(value));
    } else {
      open_.back().list->items.push_back(std::move(value));
    }
    return true;
  }

  bool open(Open level) {
    if (open_.size() == kMaxJsonDepth) {
      bad_input("{}: the JSON nests deeper than {} levels", where_, kMaxJsonDepth);
    }
    open_.push_back(std::move(level));
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  Run& run_;
  std::string_view where_;
  std::vector<Open> open_;
};

class JsonWriter {
 public:
  JsonWriter(Run& run, const JsonStyle& style) : run_(run), out_(run), style_(style) {}

  void write(const Value& value) {
    run_.charge(1);
    if (const Text* text = value.text()) {
      write_text(text->bytes());
    } else if (const List* list = value.list();
               list && (list->kind == ListKind::kList || list->kind == ListKind::kTuple)) {
      write_list(list->items);
    } else if (const Dict* dict = value.dict()) {
      write_dict(*dict);
    } else {
      write_scalar(value);
    }
  }
  TextRef finish() { return out_.finish(); }

 private:
  void put(std::string_view bytes) { out_.append(bytes, Origin::kContent); }

  void write_scalar(const Value& value) {
    if (const bool* flag = value.get<bool>()) return put(*flag ? "true" : "false");
    if (const int64_t* integer = value.get<int64_t>()) return put(fmt::format("{}", *integer));
    if (const double* number = value.get<double>()) return put(json_float(*number));
    if (value.is_none()) return put("null");
    run_.fault("tojson: a value of type {} has no JSON form", type_name(value));
  }

  static std::string json_float(double number) {
    if (std::isnan(number)) return "NaN";
    if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
    return float_repr(number);
  }

  void write_char(std::string& written, uint32_t c) const {
    constexpr std::string_view kShort = "\"\\\n\r\t\b\f";
    constexpr std::string_view kShortNames = "\"\\nrtbf";
    size_t place = c < 0x80 ? kShort.find(static_cast<char>(c)) : std::string_view::npos;
    if (place != std::string_view::npos) {
      written += '\\';
      written += kShortNames[place];
      return;
    }
    if (c >= 0x20 && (!style_.is_ascii || c < 0x7F)) {
      append_code_point(written, c);
    } else if (c < 0x10000) {
      written += fmt::format("\\u{:04x}", c);
    } else {
      uint32_t rest = c - 0x10000;
      written += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 | (rest >> 10), 0xDC00 | (rest & 0x3FF));
    }
  }

  void write_text(std::string_view bytes) {
    std::string written = "\"";
    for (size_t position = 0; position < bytes.size();) {
      write_char(written, next_code_point(bytes, position));
    }
    put(written += '"');
  }

  // Between brackets; `first` says whether this is the first item.
  void separate(bool is_first) {
    if (!is_first) put(style_.item_separator);
    if (style_.indent) new_line();
  }

  void new_line() {
    put("\n");
    for (int i = 0; i < level_; ++i) put(*style_.indent);
  }

  void write_list(const std::vector<Value>& items) {
    if (items.empty()) return put("[]");
    Deeper deeper(run_);
    put("[");
    ++level_;
    for (size_t i = 0; i < items.size(); ++i) {
      separate(i == 0);
      write(items[i]);
    }
    --level_;
    if (style_.indent) new_line();
    put("]");
  }

  void write_key(const Value& key) {
    if (const Text* text = key.text()) return write_text(text->bytes());
    put("\"");
    write_scalar(key);
    put("\"");
  }

  void write_dict(const Dict& dict) {
    if (dict.size() == 0) return put("{}");
    Deeper deeper(run_);
    std::vector<const Dict::Entry*> entries;
    run_.charge(dict.size());
    for (const auto& entry : dict.entries()) entries.push_back(&entry);
    if (style_.sorts_keys) {
      std::stable_sort(entries.begin(), entries.end(), [&](const auto* a, const auto* b) {
        auto order = compare(run_, a->first, b->first, "<");
        return order && *order < 0;
      });
    }
    put("{");
    ++level_;
    for (size_t i = 0; i < entries.size(); ++i) {
      separate(i == 0);
      write_key(entries[i]->first);
      put(style_.key_separator);
      write(entries[i]->second);
    }
    --level_;
    if (style_.indent) new_line();
    put("}");
  }

  Run& run_;
  TextBuilder out_;
  const JsonStyle& style_;
  int level_ = 0;
};

}  // namespace

Value parse_json(Run& run, std::string_view json, std::string_view where) {
  ValueReader reader(run, where);
  nlohmann::json::sax_parse(json.begin(), json.end(), &reader);
  return reader.root;
}

TextRef to_json(Run& run, const Value& value, const JsonStyle& style) {
  JsonWriter writer(run, style);
  writer.write(value);
  return writer.finish();
}

}  // namespace ft::jinja
