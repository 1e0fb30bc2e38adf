// loop.index, loop.last and their kin.
#include "text/jinja/loop.h"

#include <utility>

namespace ft::jinja {

namespace {

// loop.cycle and loop.changed.
struct LoopMethod : Callable {
  LoopMethod(Run& run_in, Loop& loop_in, bool is_cycle_in)
      : run(run_in), loop(loop_in), is_cycle(is_cycle_in) {}
  std::string_view name() const override { return is_cycle ? "loop.cycle" : "loop.changed"; }
  Value call(Evaluator&, Args args) const override {
    if (!args.named.empty()) run.fault("{}() has no named arguments", name());
    if (is_cycle) return loop.cycle(args.positional);
    return loop.has_changed(std::move(args.positional));
  }
  Run& run;
  Loop& loop;
  bool is_cycle;
};

}  // namespace

Loop::Loop(Run& run, Value source, Filter filter)
    : run_(run), source_(std::move(source)), items_(run, source_), filter_(std::move(filter)) {}

std::optional<Value> Loop::pull() {
  while (auto item = items_.next()) {
    if (!filter_ || filter_(*item)) return item;
  }
  return std::nullopt;
}

const Value* Loop::peek() {
  if (n_used_ == ahead_.size()) {
    auto item = pull();
    if (!item) return nullptr;
    ahead_.push_back(std::move(*item));
  }
  return &ahead_[n_used_];
}

bool Loop::advance() {
  const Value* next = peek();
  if (next == nullptr) return false;
  ++index0_;
  previous_ = std::exchange(current_, *next);
  if (++n_used_ == ahead_.size()) {
    ahead_.clear();
    n_used_ = 0;
  }
  return true;
}

int64_t Loop::length() {
  if (length_) return *length_;
  if (!filter_) length_ = length_of(source_);
  if (!length_) {
    while (auto item = pull()) ahead_.push_back(std::move(*item));
    length_ = index0_ + 1 + static_cast<int64_t>(ahead_.size() - n_used_);
  }
  return *length_;
}

std::optional<Value> Loop::attribute(std::string_view name) {
  if (name == "index") return index0_ + 1;
  if (name == "index0") return index0_;
  if (name == "first") return index0_ == 0;
  if (name == "last") return peek() == nullptr;
  if (name == "length") return length();
  if (name == "revindex") return length() - index0_;
  if (name == "revindex0") return length() - index0_ - 1;
  if (name == "depth") return int64_t{1};
  if (name == "depth0") return int64_t{0};
  if (name == "previtem") return index0_ == 0 ? Value(Undefined{"loop.previtem"}) : previous_;
  if (name == "nextitem") {
    const Value* next = peek();
    return next ? *next : Value(Undefined{"loop.nextitem"});
  }
  if (name == "cycle" || name == "changed") {
    return static_cast<const Callable*>(run_.make<LoopMethod>(run_, *this, name == "cycle"));
  }
  return std::nullopt;
}

Value Loop::cycle(const std::vector<Value>& values) const {
  if (values.empty()) run_.fault("loop.cycle() needs values");
  return values[static_cast<size_t>(index0_) % values.size()];
}

bool Loop::has_changed(std::vector<Value> values) {
  bool is_same = last_values_ && last_values_->size() == values.size();
  for (size_t i = 0; is_same && i < values.size(); ++i) {
    is_same = equals(run_, (*last_values_)[i], values[i]);
  }
  if (!is_same) last_values_ = std::move(values);
  return !is_same;
}

}  // namespace ft::jinja
