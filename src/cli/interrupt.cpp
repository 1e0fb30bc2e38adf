// A signal handler that sets a flag. System calls are not restarted, so that a waiting read
// returns.
#include "cli/interrupt.h"

#include <signal.h>

namespace ft {
namespace {

volatile sig_atomic_t is_interrupted = 0;
struct sigaction before;

void on_interrupt(int) {
  is_interrupted = 1;
}

}  // namespace

Interrupts::Interrupts(Second second) {
  clear();
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  action.sa_flags = second == Second::kEndsTheProgram ? static_cast<int>(SA_RESETHAND) : 0;
  sigaction(SIGINT, &action, &before);
}

Interrupts::~Interrupts() {
  sigaction(SIGINT, &before, nullptr);
}

bool Interrupts::is_set() {
  return is_interrupted != 0;
}

void Interrupts::clear() {
  is_interrupted = 0;
}

}  // namespace ft
