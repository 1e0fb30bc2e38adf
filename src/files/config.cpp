// Config over a parsed JSON document that all objects taken from it share.
#include "files/config.h"

#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file_map.h"
#include "base/json_text.h"
#include "base/printable.h"

namespace ft {
namespace {

using nlohmann::json;

/// Refuses doubled names.
class StrictEvents {
 public:
  explicit StrictEvents(const std::string& where) : where_(where) {}

  bool operator()(int, json::parse_event_t event, const json& parsed) {
    switch (event) {
      case json::parse_event_t::object_start:
      case json::parse_event_t::array_start:
        open_.emplace_back();
        break;
      case json::parse_event_t::object_end:
      case json::parse_event_t::array_end:
        open_.pop_back();
        break;
      case json::parse_event_t::key:
        if (const auto& name = parsed.get_ref<const std::string&>();
            !open_.back().insert(name).second) {
          bad_input("{}: an object names \"{}\" twice", where_, printable(name));
        }
        break;
      case json::parse_event_t::value:
        break;
    }
    return true;
  }

 private:
  const std::string& where_;
  std::vector<std::set<std::string>> open_;  // names so far of each object or list that is open
};

json parse_strict(std::string_view text, const std::string& where) {
  if (const size_t zero = text.find('\0'); zero != std::string_view::npos) {
    bad_input("{}: not JSON: a zero byte at {}", where, zero);
  }
  check_json_depth(text, where);
  try {
    StrictEvents events(where);
    const std::optional<std::string> quoted = quote_bare_words(text);
    json document = json::parse(quoted ? std::string_view(*quoted) : text, std::ref(events));
    if (!document.is_object()) {
      bad_input("{}: expected a JSON object, found {}", where, document.type_name());
    }
    return document;
  } catch (const json::exception& error) {
    bad_input("{}: not valid JSON: {}", where, printable(error.what()));
  }
}

struct Found {
  std::string_view name;
  const json* value = nullptr;  // null: none of the names is there
};

Found find_in(const json& object, Config::Names names) {
  for (const std::string_view name : names) {
    const auto member = object.find(std::string(name));
    if (member != object.end() && !member->is_null()) return {name, &*member};
  }
  return {};
}

Found need_in(const json& object, const std::string& where, Config::Names names) {
  const Found found = find_in(object, names);
  if (found.value == nullptr) {
    bad_input("{}: missing: \"{}\"", where, fmt::join(names, "\" or \""));
  }
  return found;
}

/// A value in words: "list", "string \"abc\"", "number -3.5".
std::string describe(const json& value) {
  if (value.is_string()) {
    return fmt::format("string \"{}\"", printable(value.get_ref<const std::string&>(), 60));
  }
  if (value.is_array()) return "list";
  if (value.is_primitive()) return fmt::format("{} {}", value.type_name(), value.dump());
  return value.type_name();
}

[[noreturn]] void wrong_type(const std::string& where, std::string_view name, const json& value,
                             std::string_view expected) {
  bad_input("{}: \"{}\" must be {}, but holds the {}", where, name, expected, describe(value));
}

/// The value as a T, or nothing if it is of another type.
template <typename T>
std::optional<T> as(const json& value);
template <typename T>
constexpr std::string_view kExpected;

template <>
constexpr std::string_view kExpected<int64_t> = "an integer of 64 bits";
template <>
std::optional<int64_t> as<int64_t>(const json& value) {
  constexpr double kTwo63 = 9223372036854775808.0;
  if (value.is_number_unsigned()) {
    const auto n = value.get<uint64_t>();
    if (n > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
    return static_cast<int64_t>(n);
  }
  if (value.is_number_integer()) return value.get<int64_t>();
  if (!value.is_number_float()) return std::nullopt;
  const auto x = value.get<double>();
  if (x != std::trunc(x) || x < -kTwo63 || x >= kTwo63) return std::nullopt;
  return static_cast<int64_t>(x);
}

template <>
constexpr std::string_view kExpected<double> = "a number";
template <>
std::optional<double> as<double>(const json& value) {
  if (!value.is_number()) return std::nullopt;
  return value.get<double>();
}

template <>
constexpr std::string_view kExpected<bool> = "true or false";
template <>
std::optional<bool> as<bool>(const json& value) {
  if (!value.is_boolean()) return std::nullopt;
  return value.get<bool>();
}

template <>
constexpr std::string_view kExpected<std::string> = "a string";
template <>
std::optional<std::string> as<std::string>(const json& value) {
  if (!value.is_string()) return std::nullopt;
  return value.get<std::string>();
}

template <typename T>
T convert(const std::string& where, const Found& found) {
  std::optional<T> value = as<T>(*found.value);
  if (!value) wrong_type(where, found.name, *found.value, kExpected<T>);
  return *std::move(value);
}

template <typename T>
std::vector<T> convert_list(const json& object, const std::string& where, Config::Names names) {
  const Found found = find_in(object, names);
  if (found.value == nullptr) return {};
  if (!found.value->is_array()) return {convert<T>(where, found)};
  std::vector<T> list;
  list.reserve(found.value->size());
  for (const json& item : *found.value) {
    std::optional<T> value = as<T>(item);
    if (!value) {
      wrong_type(where, fmt::format("{}[{}]", found.name, list.size()), item, kExpected<T>);
    }
    list.push_back(*std::move(value));
  }
  return list;
}

}  // namespace

struct Config::Node {
  std::shared_ptr<const json> document;  // owns `object`
  const json* object;
  std::string where;
};

Config::Config(std::shared_ptr<const Node> node) : node_(std::move(node)) {}

Config Config::read(const std::filesystem::path& file, uint64_t max_bytes) {
  return parse(read_text_file(file, max_bytes), file.string());
}

Config Config::parse(std::string_view text, std::string where) {
  auto document = std::make_shared<const json>(parse_strict(text, where));
  const json* object = document.get();
  return Config(std::make_shared<Node>(Node{std::move(document), object, std::move(where)}));
}

const std::string& Config::where() const {
  return node_->where;
}

bool Config::has(std::string_view name) const {
  return find_in(*node_->object, {name}).value != nullptr;
}

std::vector<std::string> Config::names() const {
  std::vector<std::string> names;
  names.reserve(node_->object->size());
  for (const auto& member : node_->object->items()) names.push_back(member.key());
  return names;
}

int64_t Config::integer(Names names) const {
  const Found found = need_in(*node_->object, where(), names);
  return convert<int64_t>(where(), found);
}

double Config::number(Names names) const {
  const Found found = need_in(*node_->object, where(), names);
  return convert<double>(where(), found);
}

std::string Config::string(Names names) const {
  const Found found = need_in(*node_->object, where(), names);
  return convert<std::string>(where(), found);
}

Config Config::object(Names names) const {
  need_in(*node_->object, where(), names);
  return *find_object(names);
}

int64_t Config::integer(Names names, int64_t otherwise) const {
  const Found found = find_in(*node_->object, names);
  return found.value ? convert<int64_t>(where(), found) : otherwise;
}

double Config::number(Names names, double otherwise) const {
  const Found found = find_in(*node_->object, names);
  return found.value ? convert<double>(where(), found) : otherwise;
}

bool Config::flag(Names names, bool otherwise) const {
  const Found found = find_in(*node_->object, names);
  return found.value ? convert<bool>(where(), found) : otherwise;
}

std::string Config::string(Names names, std::string_view otherwise) const {
  const Found found = find_in(*node_->object, names);
  return found.value ? convert<std::string>(where(), found) : std::string(otherwise);
}

std::optional<Config> Config::find_object(Names names) const {
  const Found found = find_in(*node_->object, names);
  if (found.value == nullptr) return std::nullopt;
  if (!found.value->is_object()) wrong_type(where(), found.name, *found.value, "an object");
  return Config(std::make_shared<Node>(
      Node{node_->document, found.value, fmt::format("{}: {}", where(), found.name)}));
}

std::vector<int64_t> Config::integers(Names names) const {
  return convert_list<int64_t>(*node_->object, where(), names);
}

std::vector<double> Config::numbers(Names names) const {
  return convert_list<double>(*node_->object, where(), names);
}

std::vector<std::string> Config::strings(Names names) const {
  return convert_list<std::string>(*node_->object, where(), names);
}

Config Config::text_model() const {
  std::optional<Config> inner;
  for (const std::string_view name : kTextModelNames) {
    if (!inner) inner = find_object({name});
  }
  if (!inner) return *this;
  json merged = *node_->object;
  for (const auto& member : inner->node_->object->items()) {
    if (!member.value().is_null()) merged[member.key()] = member.value();
  }
  auto document = std::make_shared<const json>(std::move(merged));
  const json* object = document.get();
  return Config(std::make_shared<Node>(Node{std::move(document), object, where()}));
}

Config Config::with(std::string_view name, const Config& object) const {
  json extended = *node_->object;
  extended[std::string(name)] = *object.node_->object;
  auto document = std::make_shared<const json>(std::move(extended));
  const json* root = document.get();
  return Config(std::make_shared<Node>(Node{std::move(document), root, where()}));
}

}  // namespace ft
