// Pseudo terminals, which a bare root folder may lack.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>

namespace ft::test {

/// The leading side of a new terminal, whose other side ptsname() names; -1 where there are none.
inline int open_pseudo_terminal() {
  const int leader = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (leader < 0) return -1;
  if (grantpt(leader) == 0 && unlockpt(leader) == 0 && access(ptsname(leader), R_OK | W_OK) == 0) {
    return leader;
  }
  close(leader);
  return -1;
}

/// Tests that need one.
class OnATerminal : public testing::Test {
 protected:
  void SetUp() override {
    const int leader = open_pseudo_terminal();
    if (leader >= 0) {
      close(leader);
      return;
    }
    std::puts("NOT CHECKED: what is written to a terminal: this machine has no /dev/pts");
    GTEST_SKIP();
  }
};

}  // namespace ft::test
