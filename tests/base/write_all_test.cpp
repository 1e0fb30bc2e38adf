// Writing until all is written, or the reason why not.
#include "base/write_all.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace ft {
namespace {

TEST(WriteAll, AFullPipeThatDoesNotBlockIsWaitedFor) {
  std::array<int, 2> ends;
  ASSERT_EQ(pipe(ends.data()), 0);
  ASSERT_EQ(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
  const std::string text(1 << 20, 'x');  // more than a pipe holds
  std::string arrived;
  std::thread reader([&] {
    std::array<char, 4096> buffer;
    for (ssize_t n = 0; (n = read(ends[0], buffer.data(), buffer.size())) > 0;) {
      arrived.append(buffer.data(), static_cast<size_t>(n));
    }
  });
  EXPECT_EQ(write_all(ends[1], text), 0);
  close(ends[1]);
  reader.join();
  close(ends[0]);
  EXPECT_EQ(arrived, text);
}

TEST(WriteAll, TheReasonComesBack) {
  EXPECT_EQ(write_all(-1, "x"), EBADF);
  EXPECT_EQ(write_all(-1, ""), 0);
  const int full = open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  EXPECT_EQ(write_all(full, "x"), ENOSPC);
  close(full);
  std::array<int, 2> ends;
  ASSERT_EQ(pipe(ends.data()), 0);
  close(ends[0]);
  const auto before = signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(write_all(ends[1], "x"), EPIPE);
  signal(SIGPIPE, before);
  close(ends[1]);
}

}  // namespace
}  // namespace ft
