// Ctrl-C as a question that a loop can ask.
#pragma once

namespace ft {

/// While one lives, Ctrl-C sets a flag instead of ending the program. At most one lives at a time.
class Interrupts {
 public:
  enum class Second { kSetsTheFlagToo, kEndsTheProgram };  // what one more Ctrl-C does

  explicit Interrupts(Second second);
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  static bool is_set();
  static void clear();
};

}  // namespace ft
