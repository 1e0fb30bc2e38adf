// How fast an instruction set multiplies when nothing else is to do: chains of multiply-adds in
// registers, on all members of a team at once.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/team.h"

namespace ft::bench {

/// A loop of `n` rounds and the multiply-adds of a round.
struct PeakLoop {
  void (*run)(int64_t n) = nullptr;
  double multiply_adds = 0;
};

class MultiplyPeak {
 public:
  /// `isa` as kernels/cpu/select.h names it. Tiles of "amx" must have been asked for, as cpu_ops does.
  explicit MultiplyPeak(std::string_view isa);

  /// 10^9 multiplications and additions a second, measured for 20 ms; 0 where not known.
  double float_gflops(Team& team) const { return measure(team, float_); }
  double int8_gflops(Team& team) const { return measure(team, int8_); }

 private:
  static double measure(Team& team, const PeakLoop& loop);

  PeakLoop float_;
  PeakLoop int8_;
};

}  // namespace ft::bench
