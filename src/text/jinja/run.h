// What one rendering owns and what it may spend: a hostile template ends in an Error, not in a full
// memory or a long wait.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"

namespace ft::jinja {

/// Everything that lives until the rendering ends: lists, dicts, namespaces, functions. Values
/// point at these.
struct Managed {
  Managed() = default;
  Managed(const Managed&) = delete;
  Managed& operator=(const Managed&) = delete;
  virtual ~Managed() = default;
};

struct Limits {
  // One step is a node evaluated, a list element copied, or kBytesPerStep bytes of text handled.
  uint64_t n_steps = 10'000'000;
  int n_depth = 256;  // expressions and statements under evaluation inside each other
  uint64_t text_bytes = 64ull << 20;  // one string, the output included
};

class Run {
 public:
  static constexpr uint64_t kBytesPerStep = 32;

  /// `where` names the template in messages and must outlive the run.
  explicit Run(std::string_view where, const Limits& limits = {})
      : where_(where), limits_(limits) {}

  /// Errors: kBadInput once the steps are spent.
  void charge(uint64_t n_steps) {
    if (n_steps > limits_.n_steps - n_spent_) [[unlikely]] {
      out_of_steps();
    }
    n_spent_ += n_steps;
  }
  void charge_bytes(uint64_t n_bytes) { charge(n_bytes / kBytesPerStep); }
  void forget_charges() { n_spent_ = 0; }

  /// An object that the run owns. Costs steps, so that steps bound the memory.
  template <typename T, typename... Args>
  T* make(Args&&... args) {
    charge(kObjectSteps);
    auto owned = std::make_unique<T>(std::forward<Args>(args)...);
    T* object = owned.get();
    owned_.push_back(std::move(owned));
    return object;
  }

  /// Throws kBadInput (kUnsupported) with the template's name and the current line in front.
  template <typename... Args>
  [[noreturn]] void fault(fmt::format_string<Args...> text, Args&&... args) const {
    raise(ErrorKind::kBadInput, fmt::format(text, std::forward<Args>(args)...));
  }
  template <typename... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> text, Args&&... args) const {
    raise(ErrorKind::kUnsupported, fmt::format(text, std::forward<Args>(args)...));
  }

  const Limits& limits() const { return limits_; }
  int line = 0;  // of the node under evaluation

 private:
  friend class Deeper;
  static constexpr uint64_t kObjectSteps = 16;

  [[noreturn]] void raise(ErrorKind kind, const std::string& text) const {
    fail(kind, "{}:{}: {}", where_, line, text);
  }
  [[noreturn]] void out_of_steps() const {
    fault("the template takes more than {} steps; it loops too long or its strings grow too large",
          limits_.n_steps);
  }
  [[noreturn]] void too_deep() const {
    fault("the template nests or recurses deeper than {} levels", limits_.n_depth);
  }

  std::string_view where_;
  Limits limits_;
  uint64_t n_spent_ = 0;
  int depth_ = 0;
  std::vector<std::unique_ptr<Managed>> owned_;
};

/// Levels of recursion, for as long as it lives. Errors: kBadInput at the limit.
class Deeper {
 public:
  /// `n_levels` above 1 for what takes more of the stack than about 600 bytes.
  explicit Deeper(Run& run, int n_levels = 1) : run_(run), n_levels_(n_levels) {
    if (run_.depth_ + n_levels > run_.limits_.n_depth) run_.too_deep();
    run_.depth_ += n_levels;
  }
  ~Deeper() { run_.depth_ -= n_levels_; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;

 private:
  Run& run_;
  int n_levels_;
};

}  // namespace ft::jinja
