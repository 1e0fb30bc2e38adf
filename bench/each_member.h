// Work that every member of a team does, each its own share.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "base/team.h"

namespace ft::bench {

/// Runs `function(member)` once on every member of the team: nobody begins before all have come.
template <typename Function>
void run_on_each_member(Team& team, Function&& function) {
  std::atomic<int> n_arrived{0};
  team.run(team.n_threads(), 1, [&](int64_t, int64_t, int member) {
    n_arrived.fetch_add(1);
    while (n_arrived.load() < team.n_threads()) std::this_thread::yield();
    function(member);
  });
}

}  // namespace ft::bench
