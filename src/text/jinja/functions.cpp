// The global functions: range(), namespace(), dict(), raise_exception(), strftime_now() and the
// like.
#include <algorithm>
#include <ctime>
#include <iomanip>
#include <locale>
#include <sstream>

#include "text/jinja/access.h"

namespace ft::jinja {

namespace {

constexpr int64_t kMaxRange = 100'000;  // the sandbox of the reference has the same

Value range_function(NativeCall& call) {
  const auto& given = call.args.positional;
  if (!call.args.named.empty() || given.empty() || given.size() > 3) {
    call.run.fault("range() takes one to three integers");
  }
  std::vector<int64_t> bounds;
  for (const Value& value : given) {
    auto bound = as_integer(value);
    if (!bound) call.run.fault("range() needs an int, not {}", type_name(value));
    bounds.push_back(*bound);
  }
  int64_t start = bounds.size() > 1 ? bounds[0] : 0;
  int64_t stop = bounds.size() > 1 ? bounds[1] : bounds[0];
  int64_t step = bounds.size() > 2 ? bounds[2] : 1;
  if (step == 0) call.run.fault("the step of range() cannot be 0");
  std::vector<Value> items;
  for (int64_t i = start; step > 0 ? i < stop : i > stop;) {
    if (items.size() == kMaxRange) call.run.fault("range() has more than {} items", kMaxRange);
    items.push_back(i);
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  return make_list(call.run, std::move(items), ListKind::kRange);
}

void add_entry(NativeCall& call, Dict& dict, Value key, Value value) {
  call.run.charge(1);
  if (!is_hashable(key))
    call.run.refuse("a dict with a key of type {} is not supported", type_name(key));
  dict.set(call.run, std::move(key), std::move(value));
}

// What dict() and namespace() make of their arguments.
void fill(NativeCall& call, Dict& dict) {
  if (call.args.positional.size() > 1) call.run.fault("{}() takes one value and names", call.name);
  for (const Value& source : call.args.positional) {
    if (const Dict* other = source.dict()) {
      for (const auto& [key, value] : other->entries()) add_entry(call, dict, key, value);
      continue;
    }
    for (const Value& item : take_items(call.run, source)) {
      std::vector<Value> pair = take_items(call.run, item);
      if (pair.size() != 2) call.run.fault("{}() needs pairs of key and value", call.name);
      add_entry(call, dict, pair[0], pair[1]);
    }
  }
  for (auto& [name, value] : call.args.named) {
    add_entry(call, dict, made(call.run, name), std::move(value));
  }
}

Value dict_function(NativeCall& call) {
  Dict* dict = call.run.make<Dict>();
  fill(call, *dict);
  return static_cast<const Dict*>(dict);
}

Value namespace_function(NativeCall& call) {
  Namespace* space = call.run.make<Namespace>();
  fill(call, space->names);
  return space;
}

Value raise_exception(NativeCall& call) {
  call.run.fault("the chat template refuses this conversation: {}",
                 to_text(call.run, call.arg(0))->bytes());
}

// One conversion of strftime in the C locale, whatever the program's own is.
std::string format_time(const std::tm& time, char conversion) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  const char pattern[] = {'%', conversion};
  out << std::put_time(&time, std::string(pattern, 2).c_str());
  return out.str();
}

Value strftime_now(NativeCall& call) {
  TextRef format = call.text(0);
  constexpr std::string_view kKnown = "aAbBcdDeFHIjmMpRSTuUwWxXyYG";
  std::time_t now = std::time(nullptr);
  std::tm time{};
  localtime_r(&now, &time);
  std::string_view bytes = format->bytes();
  TextBuilder out(call.run);
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != '%' || i + 1 == bytes.size()) {
      out.append(*format, i, i + 1);
      continue;
    }
    bool drops_zero = bytes[++i] == '-' && i + 1 < bytes.size();
    char conversion = bytes[drops_zero ? ++i : i];
    if (conversion == '%') {
      out.append("%", Origin::kTemplate);
      continue;
    }
    if (kKnown.find(conversion) == std::string_view::npos) {
      call.run.refuse("strftime_now(): '%{}' is not supported",
                      static_cast<unsigned char>(conversion) < 0x80 ? conversion : '?');
    }
    std::string text = format_time(time, conversion);
    size_t n_drop = drops_zero && text.size() > 1 && (text[0] == '0' || text[0] == ' ') ? 1 : 0;
    out.append(std::string_view(text).substr(n_drop), Origin::kTemplate);
  }
  return out.finish();
}

constexpr Native kRows[] = {
    {"cycler", "*", refuse_call},           {"dict", "*", dict_function},
    {"joiner", "*", refuse_call},           {"lipsum", "*", refuse_call},
    {"namespace", "*", namespace_function}, {"raise_exception", "message", raise_exception},
    {"range", "*", range_function},         {"strftime_now", "format", strftime_now},
};

}  // namespace

const Native* find_function(std::string_view name) {
  auto row = std::find_if(std::begin(kRows), std::end(kRows),
                          [&](const Native& r) { return r.name == name; });
  return row == std::end(kRows) ? nullptr : row;
}

}  // namespace ft::jinja
