// One gate word says which run is open and how many workers are inside it. A worker that comes late
// finds the gate closed and is not waited for, so that on a busy machine a run lasts no longer than
// the members that took part.
#include "base/team.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <atomic>
#include <chrono>
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

// Long enough to bridge the gap between two operations of a step, short enough that an idle engine
// costs nothing.
constexpr std::chrono::microseconds kSpinTime{40};
constexpr int kSpinsBetweenClockReads = 32;

// The gate: bits 0-11 workers inside, bit 12 open, bits 13-31 the number of the run. That number
// comes round again after half a million runs, which is harmless: a worker that slept so long
// misses one run.
constexpr uint32_t kInside = 0xfff;
constexpr uint32_t kOpen = 0x1000;
constexpr uint32_t kRunUnit = 0x2000;
constexpr uint32_t kStop = ~uint32_t{0};  // no run looks like this: kInside is never full
constexpr int kMaxThreads = 4000;

constexpr uint32_t run_of(uint32_t gate) {
  return gate & ~(kInside | kOpen);
}

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
  const auto end = std::chrono::steady_clock::now() + kSpinTime;
  while (!is_done(value) && std::chrono::steady_clock::now() < end) {
    for (int i = 0; i < kSpinsBetweenClockReads && !is_done(value); ++i) {
      relax();
      value = word.load(std::memory_order_acquire);
    }
  }
  while (!is_done(value)) {
    word.wait(value, std::memory_order_acquire);
    value = word.load(std::memory_order_acquire);
  }
  return value;
}

struct Job {
  Team::Piece piece = nullptr;
  void* context = nullptr;
  int64_t n_items = 0;
  int64_t grain = 1;
  int64_t n_pieces = 0;
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
  alignas(64) std::atomic<uint32_t> gate{0};
  alignas(64) std::atomic<int64_t> next_piece{0};
  alignas(64) Job job;  // written only while nobody is inside
  std::atomic<bool> is_running{false};
  std::atomic<bool> has_failed{false};
  std::exception_ptr failure;
  int n_threads = 1;
  std::string note;
  std::vector<std::thread> workers;

  ~State() {
    gate.store(kStop, std::memory_order_release);
    gate.notify_all();
    for (std::thread& worker : workers) worker.join();
  }

  void start_workers(const AllowedCpus& allowed);
  void pin(std::thread& worker, int member, int cpu);
  void serve(int member);
  void work(int member);
  void open();
  void close_and_wait();
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
  uint32_t served = 0;  // the run that was served last, or the empty one before the first
  while (true) {
    uint32_t seen = wait_until(gate, [&](uint32_t value) {
      return value == kStop || ((value & kOpen) != 0 && run_of(value) != served);
    });
    if (seen == kStop) return;
    if (!gate.compare_exchange_strong(seen, seen + 1, std::memory_order_acq_rel)) continue;
    served = run_of(seen);
    work(member);
    const uint32_t left = gate.fetch_sub(1, std::memory_order_acq_rel) - 1;
    if ((left & (kInside | kOpen)) == 0) gate.notify_all();  // the caller may be asleep
  }
}

void Team::State::work(int member) {
  try {
    while (true) {
      const int64_t index = next_piece.fetch_add(1, std::memory_order_relaxed);
      if (index >= job.n_pieces) return;
      const int64_t begin = index * job.grain;
      const int64_t n = job.grain < job.n_items - begin ? job.grain : job.n_items - begin;
      job.piece(job.context, begin, begin + n, member);
    }
  } catch (...) {
    if (!has_failed.exchange(true)) failure = std::current_exception();
    next_piece.store(job.n_pieces,
                     std::memory_order_relaxed);  // the others stop at their next piece
  }
}

void Team::State::open() {
  const uint32_t run = run_of(gate.load(std::memory_order_relaxed)) + kRunUnit;
  gate.store(run | kOpen, std::memory_order_release);
  gate.notify_all();
}

void Team::State::close_and_wait() {
  gate.fetch_and(~kOpen, std::memory_order_acq_rel);
  wait_until(gate, [](uint32_t value) { return (value & kInside) == 0; });
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
  state.next_piece.store(0, std::memory_order_relaxed);
  const bool is_shared = state.n_threads > 1 && state.job.n_pieces > 1;
  if (is_shared) state.open();
  state.work(0);
  if (is_shared) state.close_and_wait();
  std::exception_ptr failure;
  if (state.has_failed.load(std::memory_order_relaxed)) {
    failure = std::exchange(state.failure, nullptr);
    state.has_failed.store(false, std::memory_order_relaxed);
  }
  state.is_running.store(false, std::memory_order_release);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace ft
