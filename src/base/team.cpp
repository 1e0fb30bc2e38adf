// A run is a new number in one word that all workers watch. Each member has a ticket, in a cache line
// of its own: whoever writes the run's number into it, the worker or the caller in its place, does
// the member's first piece. So a worker that comes late finds its ticket taken and is not waited for,
// members do not meet at one line, and on a busy machine a run lasts no longer than the members that
// took part.
#include "base/team.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <atomic>
#include <cstring>
#include <exception>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/cpus.h"
#include "base/error.h"

namespace ft {
namespace {

// Turns of waiting before a member falls asleep: 40 to 110 microseconds, by processor. Long enough to
// bridge the gap between two operations of a step, short enough that an idle engine costs nothing.
// Turns are counted, since a look at the clock can take longer than what is waited for.
constexpr int kSpins = 2000;

// Numbers of runs are even, so that they come round again without ever being this one. They do so
// after two thousand million runs; a worker that slept so long misses one.
constexpr uint32_t kStop = 1;
constexpr uint32_t kRunUnit = 2;
constexpr int kMaxThreads = 4000;

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Waits until `is_done(word)`: first spinning, then asleep. Whoever changes the word must notify
/// it.
template <typename IsDone>
uint32_t wait_until(const std::atomic<uint32_t>& word, IsDone is_done) {
  uint32_t value = word.load(std::memory_order_acquire);
  if (is_done(value)) return value;
  for (int i = 0; i < kSpins && !is_done(value); ++i) {
    relax();
    value = word.load(std::memory_order_acquire);
  }
  while (!is_done(value)) {
    word.wait(value, std::memory_order_acquire);
    value = word.load(std::memory_order_acquire);
  }
  return value;
}

/// What a run is; written only while no worker is in one.
struct Job {
  Team::Piece piece = nullptr;
  void* context = nullptr;
  int64_t n_items = 0;
  int64_t grain = 1;
  int64_t n_pieces = 0;
};

struct alignas(64) Member {
  std::atomic<uint32_t> ticket{0};  // the last run whose first piece was taken
  std::atomic<uint32_t> done{0};    // the last run that the worker has left
};

/// Signals belong to the program's own threads: a Ctrl-C must interrupt the one that reads the
/// terminal. Those that a thread raises itself stay: a fault must be reported.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t blocked;
    sigfillset(&blocked);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&blocked, fault);
    pthread_sigmask(SIG_SETMASK, &blocked, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

struct Team::State {
  // One line: who sees the number of a run has the run.
  alignas(64) std::atomic<uint32_t> run{0};
  Job job;
  alignas(64) std::atomic<int64_t> next_piece{0};  // behind the first ones of the members
  alignas(64) std::atomic<bool> is_running{false};
  std::atomic<bool> has_failed{false};
  std::exception_ptr failure;
  int n_threads = 1;
  std::string note;
  std::vector<Member> members;
  std::vector<std::thread> workers;

  ~State() {
    run.store(kStop, std::memory_order_release);
    run.notify_all();
    for (std::thread& worker : workers) worker.join();
  }

  void start_workers(const AllowedCpus& allowed);
  void pin(std::thread& worker, int member, int cpu);
  void serve(int member);
  bool take_ticket(int member, uint32_t number);
  void do_piece(int64_t index, int member);
  void work(int member);
  void finish(uint32_t number);
};

void Team::State::start_workers(const AllowedCpus& allowed) {
  const SignalsBlocked blocked;  // the new threads inherit it
  try {
    workers.reserve(static_cast<size_t>(n_threads - 1));
    for (int member = 1; member < n_threads; ++member) {
      workers.emplace_back([this, member] { serve(member); });
      pthread_setname_np(workers.back().native_handle(), fmt::format("ft-team-{}", member).c_str());
      // Under a quota every such process would choose the same CPUs, and leave the others idle.
      if (!allowed.is_cut_by_quota) {
        pin(workers.back(), member, allowed.cpus[static_cast<size_t>(member)].id);
      }
    }
  } catch (const std::system_error& error) {
    fail(ErrorKind::kOutOfMemory, "thread {} of {} could not be started: {}; ask for fewer threads",
         workers.size() + 2, n_threads, error.what());
  }
}

void Team::State::pin(std::thread& worker, int member, int cpu) {
  std::vector<cpu_set_t> mask(static_cast<size_t>(cpu) / CPU_SETSIZE + 1);
  const size_t n_bytes = mask.size() * sizeof(cpu_set_t);
  CPU_SET_S(static_cast<size_t>(cpu), n_bytes, mask.data());
  const int error = pthread_setaffinity_np(worker.native_handle(), n_bytes, mask.data());
  if (error != 0 && note.empty()) {
    note = fmt::format("thread {} could not be pinned to CPU {} ({}); the kernel places it", member,
                       cpu, std::strerror(error));
  }
}

void Team::State::serve(int member) {
  Member& mine = members[static_cast<size_t>(member)];
  while (true) {
    const uint32_t last = mine.ticket.load(std::memory_order_relaxed);
    const uint32_t number = wait_until(run, [&](uint32_t value) { return value != last; });
    if (number == kStop) return;
    if (!take_ticket(member, number)) continue;
    work(member);
    mine.done.store(number, std::memory_order_release);
    mine.done.notify_one();  // the caller may be asleep
  }
}

/// False if the caller has taken it, or did so for an earlier run that was read too late.
bool Team::State::take_ticket(int member, uint32_t number) {
  std::atomic<uint32_t>& ticket = members[static_cast<size_t>(member)].ticket;
  uint32_t before = number - kRunUnit;
  return ticket.compare_exchange_strong(before, number, std::memory_order_acq_rel);
}

void Team::State::do_piece(int64_t index, int member) {
  const int64_t begin = index * job.grain;
  const int64_t n = job.grain < job.n_items - begin ? job.grain : job.n_items - begin;
  try {
    job.piece(job.context, begin, begin + n, member);
  } catch (...) {
    if (!has_failed.exchange(true)) failure = std::current_exception();
    next_piece.store(job.n_pieces, std::memory_order_relaxed);  // the others stop soon
  }
}

void Team::State::work(int member) {
  if (member < job.n_pieces) do_piece(member, member);
  if (job.n_pieces <= n_threads) return;
  while (true) {
    const int64_t index = next_piece.fetch_add(1, std::memory_order_relaxed);
    if (index >= job.n_pieces) return;
    do_piece(index, member);
  }
}

/// Does the first pieces of workers that have not come, and waits for those that have. Looks before
/// it takes: looks at many lines overlap, attempts to take do not.
void Team::State::finish(uint32_t number) {
  for (int member = 1; member < n_threads; ++member) {
    const std::atomic<uint32_t>& ticket = members[static_cast<size_t>(member)].ticket;
    if (ticket.load(std::memory_order_relaxed) != number && take_ticket(member, number)) {
      members[static_cast<size_t>(member)].done.store(number, std::memory_order_relaxed);
      if (member < job.n_pieces) do_piece(member, 0);
    }
  }
  for (int member = 1; member < n_threads; ++member) {
    wait_until(members[static_cast<size_t>(member)].done,
               [&](uint32_t value) { return value == number; });
  }
}

Team::Team(int n_threads) {
  const AllowedCpus allowed = allowed_cpus();
  const int n_cpus = static_cast<int>(allowed.cpus.size());
  if (n_threads < 0 || n_threads > n_cpus || n_threads > kMaxThreads) {
    bad_input("{} threads asked for, but this process may use {} of {} CPUs{}; ask for 1 to {}",
              n_threads, n_cpus, allowed.n_online,
              allowed.limit.empty() ? "" : " (" + allowed.limit + ")", n_cpus);
  }
  state_ = std::make_unique<State>();
  state_->n_threads = n_threads == 0 ? std::min(allowed.n_cores, kMaxThreads) : n_threads;
  state_->members = std::vector<Member>(static_cast<size_t>(state_->n_threads));
  state_->start_workers(allowed);
}

Team::~Team() = default;

int Team::n_threads() const {
  return state_->n_threads;
}

const std::string& Team::note() const {
  return state_->note;
}

void Team::run(int64_t n_items, int64_t grain, Piece piece, void* context) {
  FT_CHECK(grain > 0, "a piece has at least one item");
  if (n_items <= 0) return;
  State& state = *state_;
  FT_CHECK(!state.is_running.exchange(true, std::memory_order_acquire), "a run within a run");
  state.job = {piece, context, n_items, grain, (n_items - 1) / grain + 1};
  if (state.n_threads == 1 || state.job.n_pieces == 1) {
    for (int64_t index = 0; index < state.job.n_pieces && !state.has_failed; ++index) {
      state.do_piece(index, 0);
    }
  } else {
    const uint32_t number = state.run.load(std::memory_order_relaxed) + kRunUnit;
    state.next_piece.store(state.n_threads, std::memory_order_relaxed);
    state.run.store(number, std::memory_order_release);
    state.run.notify_all();
    state.work(0);
    state.finish(number);
  }
  std::exception_ptr failure;
  if (state.has_failed.load(std::memory_order_relaxed)) {
    failure = std::exchange(state.failure, nullptr);
    state.has_failed.store(false, std::memory_order_relaxed);
  }
  state.is_running.store(false, std::memory_order_release);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace ft
