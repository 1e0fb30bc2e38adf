// What a team costs by itself: runs with nothing to do, and a second of waiting.
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "bench/work.h"

namespace ft::bench {
namespace {

double cpu_ms() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto ms = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) * 1e-3;
  };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

/// As many empty pieces as are asked for a member.
Work prepare_run(int64_t n_pieces) {
  return {.call = [n_pieces](Rig& r) {
    r.team().run(r.team().n_threads() * n_pieces, 1, [](int64_t, int64_t, int) {});
  }};
}

/// A run in which every member takes part: in an empty one the caller is often done alone before
/// the others have come.
Work prepare_meeting() {
  return {.call = [](Rig& r) {
    constexpr int kSpins = 1000;  // then somebody else needs this CPU
    const int n = r.team().n_threads();
    std::atomic<int> n_arrived{0};
    r.team().run(n, 1, [&](int64_t, int64_t, int) {
      n_arrived.fetch_add(1);
      for (int i = 0; n_arrived.load() < n; ++i) {
        if (i < kSpins) {
          __builtin_ia32_pause();
        } else {
          std::this_thread::yield();
        }
      }
    });
  }};
}

/// The whole process's CPU time in a second after a run: the teams of other cases sleep too.
double idle_ms(Rig& rig) {
  rig.team().run(rig.team().n_threads(), 1, [](int64_t, int64_t, int) {});
  const double before = cpu_ms();
  std::this_thread::sleep_for(std::chrono::seconds(1));
  return cpu_ms() - before;
}

}  // namespace

void add_team_cases(std::vector<Case>& cases) {
  for (const int64_t n_pieces : {1, 8}) {
    cases.push_back({fmt::format("team/run/pieces{}", n_pieces),
                     [n_pieces](Rig&, Pool&) { return prepare_run(n_pieces); }});
  }
  cases.push_back({"team/meeting", [](Rig&, Pool&) { return prepare_meeting(); }});
  cases.push_back({"team/idle second",
                   [](Rig&, Pool&) { return Work{.unit = "ms of CPU time", .measure = idle_ms}; }});
}

}  // namespace ft::bench
