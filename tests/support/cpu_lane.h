// A lane on this machine's CPU for tests: threads, scratch, and a table of operations.
#pragma once

#include <string>
#include <vector>

#include "base/team.h"
#include "kernels/cpu/select.h"
#include "kernels/lane.h"
#include "kernels/ops.h"
#include "tests/support/thread_counts.h"

namespace ft::test {

struct CpuLane {
  /// As many threads as a test's results should not depend on, where no number is given.
  explicit CpuLane(const std::string& isa, bool exact = false,
                   int n_threads = thread_counts().back())
      : team(n_threads),
        arena(64 << 20),
        lane{.ops = &cpu_ops(isa, exact), .team = &team, .arena = &arena} {}

  const Ops& ops() const { return *lane.ops; }

  Team team;
  Arena arena;
  Lane lane;
};

}  // namespace ft::test
