// What the bench measures: a list of named cases, each of which becomes a function to call again
// and again.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bench/pool.h"
#include "bench/rig.h"
#include "tensor/formats.h"

namespace ft::bench {

/// What a case cannot be faster than, and so the figure that it is known by.
enum class Bound : uint8_t {
  kRead,      // memory: GB/s, as a share of what a plain read reaches
  kMultiply,  // multipliers: GFLOP/s, as a share of what they reach alone
  kNone,      // a fixed cost: ns a call
};

struct Work {
  Bound bound = Bound::kNone;
  double read_bytes = 0;              // a call
  double multiply_adds = 0;           // a call
  Partner partner = Partner::kFloat;  // whose peak counts
  std::function<void(Rig&)> call = {};

  // A case that measures by itself, instead of all that: one figure in `unit`, less is better.
  std::string unit = {};
  std::function<double(Rig&)> measure = {};
};

/// What the calls of a case share whose weights, or keys and values, lie in the pool.
template <typename Input>
struct PooledState {
  template <typename... Arguments>
  explicit PooledState(int64_t n_outputs, Arguments&&... arguments)
      : input(std::forward<Arguments>(arguments)...), y(static_cast<size_t>(n_outputs)) {}

  Input input;
  std::vector<float> y;
  int64_t n_copies = 0;  // in the pool
  int64_t next = 0;      // call, or copy that it takes
};

struct Case {
  std::string name;  // operation/format/sizes
  std::function<Work(Rig&, Pool&)> prepare;
};

/// Which sizes a run has.
enum class Sizes : uint8_t {
  kFull,   // weights come out of a bank that no cache holds
  kSmall,  // quick, for counting instructions and for trying out: times of these mean nothing
};

/// Numbers of rows besides one.
std::vector<int64_t> many_rows(Sizes sizes);

inline Bound bound_of(int64_t n_rows) {
  return n_rows == 1 ? Bound::kRead : Bound::kMultiply;
}

inline Partner partner_of(FormatId format) {
  return visit_format(format, [](auto f) { return decltype(f)::kPartner; });
}

/// Numbers of rows with which activations may be rounded, as a prompt has them.
std::vector<int64_t> rounded_rows(Sizes sizes);

/// The same case in bf16 with activations that may be rounded; its name says "bf16-rounded".
Case rounded(Case c);

/// All cases, in the order in which they are shown.
std::vector<Case> all_cases(Sizes sizes);

// Its parts.
void add_expert_cases(Sizes sizes, std::vector<Case>& cases);
void add_linear_cases(Sizes sizes, std::vector<Case>& cases);
void add_attention_cases(Sizes sizes, std::vector<Case>& cases);
void add_row_cases(Sizes sizes, std::vector<Case>& cases);
void add_team_cases(std::vector<Case>& cases);

}  // namespace ft::bench
