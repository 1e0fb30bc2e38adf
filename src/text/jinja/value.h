// The values of a chat template, as Python would have them: what JSON can say, plus tuples,
// namespaces and functions. Lists, dicts and functions belong to a Run; values are cheap handles to
// them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "text/jinja/run.h"
#include "text/jinja/text.h"

namespace ft::jinja {

struct List;
class Dict;
struct Namespace;
struct Callable;
class Loop;

struct None {};

/// What a name or an attribute that does not exist evaluates to. Prints as nothing; nearly all else
/// is an Error.
struct Undefined {
  std::string_view name = {};    // for messages; points into the template; may be empty
  std::string_view holder = {};  // the type of the value that has no such attribute or item
};

/// Integers are 64 bits; where Python would grow them, the operation is an Error.
using ValueData = std::variant<Undefined, None, bool, int64_t, double, TextRef, const List*,
                               const Dict*, Namespace*, const Callable*, Loop*>;

class Value {
 public:
  Value() = default;  // undefined
  template <typename T>
  requires std::is_constructible_v<ValueData, T> Value(T&& data)
      : data_(std::forward<T>(data)) {}  // NOLINT: a value is written as what it holds

  template <typename T>
  bool is() const {
    return std::holds_alternative<T>(data_);
  }
  /// The held T, or null.
  template <typename T>
  const T* get() const {
    return std::get_if<T>(&data_);
  }
  const Text* text() const {
    const TextRef* ref = get<TextRef>();
    return ref ? ref->get() : nullptr;
  }
  const List* list() const { return pointer<const List*>(); }
  const Dict* dict() const { return pointer<const Dict*>(); }
  bool is_undefined() const { return is<Undefined>(); }
  bool is_none() const { return is<None>(); }
  const ValueData& data() const { return data_; }

 private:
  template <typename T>
  T pointer() const {
    const T* held = get<T>();
    return held ? *held : nullptr;
  }
  ValueData data_;
};

enum class ListKind : uint8_t { kList, kTuple, kRange, kKeys, kValues, kItems, kGenerator };

/// Anything that is a row of values. A generator hands out each item once.
struct List : Managed {
  List(ListKind k, std::vector<Value> values) : kind(k), items(std::move(values)) {}
  bool is_indexable() const { return kind <= ListKind::kRange; }
  bool is_generator() const { return kind == ListKind::kGenerator; }

  ListKind kind;
  std::vector<Value> items;
  mutable size_t n_taken = 0;  // of a generator
};

/// Keys in order of insertion. Keys are strings, numbers, booleans, None and
/// undefined. All NaN are one key: Python finds a NaN by its identity.
class Dict : public Managed {
 public:
  using Entry = std::pair<Value, Value>;

  /// Null for a key that is not there.
  const Value* find(Run& run, const Value& key) const;
  const Value* find(Run& run, std::string_view key) const;
  /// A key that is there keeps its place. The key must be is_hashable().
  void set(Run& run, Value key, Value value);
  const std::vector<Entry>& entries() const { return entries_; }
  size_t size() const { return entries_.size(); }

 private:
  // A tree, not a hash table: no choice of keys makes it slow.
  struct Less {
    using is_transparent = void;
    bool operator()(const Value& a, const Value& b) const;
    bool operator()(const Value& a, std::string_view b) const;
    bool operator()(std::string_view a, const Value& b) const;
  };
  void charge_search(Run& run, size_t n_bytes) const;

  std::vector<Entry> entries_;
  std::map<Value, size_t, Less> places_;
};

/// The one thing that a template can change from inside a loop.
struct Namespace : Managed {
  Dict names;
};

/// The arguments of a call.
struct Args {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};

/// Takes the named argument out; nothing if it is not given.
std::optional<Value> take_named(Args& args, std::string_view name);

class Evaluator;

struct Callable : Managed {
  virtual std::string_view name() const = 0;
  virtual Value call(Evaluator& evaluator, Args args) const = 0;
};

/// "str", "int", "list", ... as Python names the type in messages.
std::string_view type_name(const Value& value);

bool is_true(const Value& value);
bool is_hashable(const Value& value);
/// bool and int as an integer.
std::optional<int64_t> as_integer(const Value& value);
/// bool, int and float as a float.
std::optional<double> as_number(const Value& value);

/// Python's ==. Errors: kBadInput for lists that nest too deeply.
bool equals(Run& run, const Value& a, const Value& b);
/// Negative, zero or positive, as a is before, equal to or behind b; nothing for NaN, which
/// compares false with everything. Errors: kBadInput for types that have no order, with `op` in the
/// message.
std::optional<int> compare(Run& run, const Value& a, const Value& b, std::string_view op);
/// Python's `in`. Errors: kBadInput for a container that cannot be searched.
bool contains(Run& run, const Value& container, const Value& item);

/// The items that a loop over `value` sees, one for each call of next().
class Items {
 public:
  /// Errors: kBadInput for a value that is not iterable.
  Items(Run& run, const Value& value);
  std::optional<Value> next();

 private:
  Run& run_;
  Value source_;
  size_t position_ = 0;
};
bool is_iterable(const Value& value);
/// All of them; a generator is empty after.
std::vector<Value> take_items(Run& run, const Value& value);
/// len(); nothing for a value that has none.
std::optional<int64_t> length_of(const Value& value);

Value make_list(Run& run, std::vector<Value> items, ListKind kind = ListKind::kList);

/// What `{{ value }}` prints: a string as it is, all else as Python's str(). Errors: kUnsupported
/// for functions and the like.
TextRef to_text(Run& run, const Value& value);
/// Python's repr(), inside lists and for `%r`.
TextRef to_repr(Run& run, const Value& value);
/// Python's repr() of a float: the shortest digits that read back as the same number.
std::string float_repr(double number);

struct JsonStyle {
  bool is_ascii = false;
  std::optional<std::string> indent;  // one level; nothing: all in one line
  std::string item_separator = ", ";
  std::string key_separator = ": ";
  bool sorts_keys = false;
};
/// Python's json.dumps(). Errors: kBadInput for a value that JSON does not have.
TextRef to_json(Run& run, const Value& value, const JsonStyle& style);

/// Reads JSON; numbers keep the difference between 1 and 1.0. Every string, keys too, is marked as
/// content. Errors: kBadInput with `where` and the position; integers beyond 64 bits, and nesting
/// deeper than kMaxJsonDepth.
Value parse_json(Run& run, std::string_view json, std::string_view where);

}  // namespace ft::jinja
