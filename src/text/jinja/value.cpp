// Truth, equality, order and iteration as Python defines them.
#include "text/jinja/value.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace ft::jinja {

namespace {

constexpr std::array<std::string_view, 7> kListNames = {
    "list", "tuple", "range", "dict_keys", "dict_values", "dict_items", "generator"};

struct TypeName {
  std::string_view operator()(const Undefined&) const { return "undefined"; }
  std::string_view operator()(const None&) const { return "None"; }
  std::string_view operator()(bool) const { return "bool"; }
  std::string_view operator()(int64_t) const { return "int"; }
  std::string_view operator()(double) const { return "float"; }
  std::string_view operator()(const TextRef&) const { return "str"; }
  std::string_view operator()(const List* list) const {
    return kListNames[static_cast<size_t>(list->kind)];
  }
  std::string_view operator()(const Dict*) const { return "dict"; }
  std::string_view operator()(Namespace*) const { return "namespace"; }
  std::string_view operator()(const Callable*) const { return "function"; }
  std::string_view operator()(Loop*) const { return "loop"; }
};

// Lists equal lists and tuples equal tuples; views of keys and generators only themselves.
bool same_family(const List& a, const List& b) {
  return a.kind == b.kind && a.is_indexable();
}

bool lists_equal(Run& run, const List& a, const List& b) {
  if (&a == &b) return true;
  if (!same_family(a, b)) {
    bool is_view = a.kind == ListKind::kKeys || a.kind == ListKind::kItems;
    if (is_view && a.kind == b.kind) run.refuse("comparing views of dicts is not supported");
    return false;
  }
  if (a.items.size() != b.items.size()) return false;
  Deeper deeper(run);
  for (size_t i = 0; i < a.items.size(); ++i) {
    if (!equals(run, a.items[i], b.items[i])) return false;
  }
  return true;
}

bool dicts_equal(Run& run, const Dict& a, const Dict& b) {
  if (&a == &b) return true;
  if (a.size() != b.size()) return false;
  Deeper deeper(run);
  for (const auto& [key, value] : a.entries()) {
    const Value* other = b.find(run, key);
    if (other == nullptr || !equals(run, value, *other)) return false;
  }
  return true;
}

template <typename T>
int order_of(T a, T b) {
  return a < b ? -1 : a > b;
}

// Exact, also where a float does not reach every integer; nothing for NaN.
std::optional<int> compare_mixed(int64_t a, double b) {
  if (std::isnan(b)) return std::nullopt;
  if (b >= 0x1p63) return -1;
  if (b < -0x1p63) return 1;
  double whole = std::trunc(b);
  int order = order_of(a, static_cast<int64_t>(whole));
  return order != 0 ? order : order_of(whole, b);
}

std::optional<int> compare_numbers(const Value& a, const Value& b) {
  auto x = as_integer(a), y = as_integer(b);
  if (x && y) return order_of(*x, *y);
  if (x) return compare_mixed(*x, *as_number(b));
  if (y) {
    auto order = compare_mixed(*y, *as_number(a));
    return order ? std::optional(-*order) : std::nullopt;
  }
  double p = *as_number(a), q = *as_number(b);
  return std::isnan(p) || std::isnan(q) ? std::nullopt : std::optional(order_of(p, q));
}

// Kinds of keys stand in this order in the tree of a dict.
enum class KeyKind { kUndefined, kNone, kNotANumber, kNumber, kText };

KeyKind kind_of_key(const Value& key) {
  if (key.text()) return KeyKind::kText;
  if (key.is_none()) return KeyKind::kNone;
  auto number = as_number(key);
  if (!number) return KeyKind::kUndefined;
  return std::isnan(*number) ? KeyKind::kNotANumber : KeyKind::kNumber;
}

std::optional<int> compare_lists(Run& run, const List& a, const List& b, std::string_view op) {
  Deeper deeper(run);
  size_t n = std::min(a.items.size(), b.items.size());
  for (size_t i = 0; i < n; ++i) {
    if (!equals(run, a.items[i], b.items[i])) return compare(run, a.items[i], b.items[i], op);
  }
  return a.items.size() < b.items.size() ? -1 : a.items.size() > b.items.size();
}

}  // namespace

std::optional<Value> take_named(Args& args, std::string_view name) {
  auto found = std::find_if(args.named.begin(), args.named.end(),
                            [&](const auto& entry) { return entry.first == name; });
  if (found == args.named.end()) return std::nullopt;
  Value value = std::move(found->second);
  args.named.erase(found);
  return value;
}

std::string_view type_name(const Value& value) {
  return std::visit(TypeName{}, value.data());
}

bool Dict::Less::operator()(const Value& a, const Value& b) const {
  KeyKind kind = kind_of_key(a), other = kind_of_key(b);
  if (kind != other) return kind < other;
  if (kind == KeyKind::kText) return a.text()->bytes() < b.text()->bytes();
  return kind == KeyKind::kNumber && *compare_numbers(a, b) < 0;
}

bool Dict::Less::operator()(const Value& a, std::string_view b) const {
  const Text* text = a.text();
  return !text || text->bytes() < b;  // strings are the last kind
}

bool Dict::Less::operator()(std::string_view a, const Value& b) const {
  const Text* text = b.text();
  return text && a < text->bytes();
}

// Each level of the tree may read the whole of a string.
void Dict::charge_search(Run& run, size_t n_bytes) const {
  run.charge(1);
  run.charge_bytes(n_bytes * static_cast<size_t>(std::bit_width(entries_.size())));
}

const Value* Dict::find(Run& run, const Value& key) const {
  charge_search(run, key.text() ? key.text()->size() : 0);
  auto place = places_.find(key);
  return place == places_.end() ? nullptr : &entries_[place->second].second;
}

const Value* Dict::find(Run& run, std::string_view key) const {
  charge_search(run, key.size());
  auto place = places_.find(key);
  return place == places_.end() ? nullptr : &entries_[place->second].second;
}

void Dict::set(Run& run, Value key, Value value) {
  charge_search(run, key.text() ? key.text()->size() : 0);
  auto [place, is_new] = places_.try_emplace(key, entries_.size());
  if (is_new) {
    entries_.emplace_back(std::move(key), std::move(value));
  } else {
    entries_[place->second].second = std::move(value);
  }
}

bool is_true(const Value& value) {
  if (value.is_undefined() || value.is_none()) return false;
  if (auto number = as_number(value)) return *number != 0;
  if (const List* list = value.list()) return list->is_generator() || !list->items.empty();
  auto length = length_of(value);
  return !length || *length != 0;
}

bool is_hashable(const Value& value) {
  return value.text() || value.is_none() || value.is_undefined() || as_number(value).has_value();
}

std::optional<int64_t> as_integer(const Value& value) {
  if (const bool* flag = value.get<bool>()) return *flag;
  if (const int64_t* integer = value.get<int64_t>()) return *integer;
  return std::nullopt;
}

std::optional<double> as_number(const Value& value) {
  if (const double* number = value.get<double>()) return *number;
  if (auto integer = as_integer(value)) return static_cast<double>(*integer);
  return std::nullopt;
}

bool equals(Run& run, const Value& a, const Value& b) {
  run.charge(1);
  if (as_number(a) && as_number(b)) return compare_numbers(a, b) == 0;
  if (a.data().index() != b.data().index()) return false;
  if (const Text* text = a.text()) {
    run.charge_bytes(text->size());
    return text->bytes() == b.text()->bytes();
  }
  if (const List* list = a.list()) return lists_equal(run, *list, *b.list());
  if (const Dict* dict = a.dict()) return dicts_equal(run, *dict, *b.dict());
  if (auto space = a.get<Namespace*>()) return *space == *b.get<Namespace*>();
  if (auto function = a.get<const Callable*>()) return *function == *b.get<const Callable*>();
  if (auto loop = a.get<Loop*>()) return *loop == *b.get<Loop*>();
  return true;  // None, undefined
}

std::optional<int> compare(Run& run, const Value& a, const Value& b, std::string_view op) {
  run.charge(1);
  if (as_number(a) && as_number(b)) return compare_numbers(a, b);
  if (a.text() && b.text()) {
    run.charge_bytes(a.text()->size());
    return a.text()->bytes().compare(b.text()->bytes());
  }
  const List* x = a.list();
  const List* y = b.list();
  if (x && y && same_family(*x, *y) && x->kind != ListKind::kRange) {
    return compare_lists(run, *x, *y, op);
  }
  run.fault("'{}' does not work between {} and {}", op, type_name(a), type_name(b));
}

bool contains(Run& run, const Value& container, const Value& item) {
  if (const Text* text = container.text()) {
    if (!item.text())
      run.fault("'in <string>' needs a string on the left, not {}", type_name(item));
    run.charge_bytes(text->size() + item.text()->size());
    return find_bytes(text->bytes(), item.text()->bytes()) != std::string_view::npos;
  }
  if (const Dict* dict = container.dict()) {
    if (!is_hashable(item)) run.fault("{} cannot be a key of a dict", type_name(item));
    return dict->find(run, item) != nullptr;
  }
  Items items(run, container);
  while (auto next = items.next()) {
    if (equals(run, *next, item)) return true;
  }
  return false;
}

bool is_iterable(const Value& value) {
  return value.text() || value.list() || value.dict() || value.is_undefined() || value.is<Loop*>();
}

Items::Items(Run& run, const Value& value) : run_(run), source_(value) {
  if (value.is<Loop*>()) run.refuse("iterating over 'loop' is not supported");
  if (!is_iterable(value)) run.fault("a value of type {} cannot be iterated", type_name(value));
}

std::optional<Value> Items::next() {
  run_.charge(1);
  if (const List* list = source_.list()) {
    size_t& position = list->is_generator() ? list->n_taken : position_;
    if (position >= list->items.size()) return std::nullopt;
    return list->items[position++];
  }
  if (const Dict* dict = source_.dict()) {
    if (position_ >= dict->size()) return std::nullopt;
    return dict->entries()[position_++].first;
  }
  const Text* text = source_.text();
  if (!text || position_ >= text->size()) return std::nullopt;
  size_t begin = position_;
  next_code_point(text->bytes(), position_);
  return slice(run_, *source_.get<TextRef>(), begin, position_);
}

std::vector<Value> take_items(Run& run, const Value& value) {
  std::vector<Value> taken;
  Items items(run, value);
  while (auto next = items.next()) taken.push_back(std::move(*next));
  return taken;
}

std::optional<int64_t> length_of(const Value& value) {
  size_t n = 0;
  if (const Text* text = value.text()) {
    n = text->n_chars();
  } else if (const List* list = value.list()) {
    if (list->is_generator()) return std::nullopt;
    n = list->items.size();
  } else if (const Dict* dict = value.dict()) {
    n = dict->size();
  } else if (!value.is_undefined()) {
    return std::nullopt;
  }
  return static_cast<int64_t>(n);
}

Value make_list(Run& run, std::vector<Value> items, ListKind kind) {
  run.charge(items.size());
  items.shrink_to_fit();
  return static_cast<const List*>(run.make<List>(kind, std::move(items)));
}

}  // namespace ft::jinja
