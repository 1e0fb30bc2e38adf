// A fixed crew of pinned threads that runs a range of items and returns when all of it is done.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace ft {

class Team {
 public:
  /// `n_threads` 0: one for each allowed physical core. More than allowed_cpus() has: kBadInput
  /// with both numbers. Member i > 0 is a thread of the team, deaf to signals, and pinned to the i-th
  /// allowed CPU unless it is a quota that allows so few. Member 0 is whoever calls run(); its
  /// affinity stays its own, and the kernel moves it to a CPU where no worker is busy.
  explicit Team(int n_threads = 0);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int n_threads() const;

  /// What the machine refused ("thread 3 could not be pinned to CPU 7 ..."); "" if nothing.
  const std::string& note() const;

  /// A piece of work: items [begin, end) by thread `member` of [0, n_threads).
  using Piece = void (*)(void* context, int64_t begin, int64_t end, int member);

  /// Cuts [0, n_items) into pieces of `grain` items, hands them to all members as they come free,
  /// and returns when all are done. The caller is member 0 and works too. One run at a time; not to
  /// be called from within a piece. The first exception of a piece is kept and thrown here, after
  /// all members have stopped. Allocates nothing.
  void run(int64_t n_items, int64_t grain, Piece piece, void* context);

  template <typename Function>  // void(int64_t begin, int64_t end, int member)
  void run(int64_t n_items, int64_t grain, Function&& function) {
    run(
        n_items, grain,
        [](void* context, int64_t begin, int64_t end, int member) {
          (*static_cast<std::remove_reference_t<Function>*>(context))(begin, end, member);
        },
        const_cast<void*>(static_cast<const void*>(&function)));
  }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ft
