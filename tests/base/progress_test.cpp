// The spelling of sizes and times, and where a progress line shows.
#include "base/progress.h"

#include <fcntl.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <string>

#include <gtest/gtest.h>

#include "base/units.h"
#include "tests/support/pseudo_terminal.h"

namespace ft {
namespace {

TEST(Units, BytesHaveThreeFigures) {
  EXPECT_EQ(format_bytes(0), "0 bytes");
  EXPECT_EQ(format_bytes(999), "999 bytes");
  EXPECT_EQ(format_bytes(1000), "1.00 kB");
  EXPECT_EQ(format_bytes(12'345), "12.3 kB");
  EXPECT_EQ(format_bytes(999'499), "999 kB");
  EXPECT_EQ(format_bytes(999'500), "1.00 MB");
  EXPECT_EQ(format_bytes(9'994'999), "9.99 MB");
  EXPECT_EQ(format_bytes(9'995'001), "10.0 MB");
  EXPECT_EQ(format_bytes(61'400'000'000), "61.4 GB");
  EXPECT_EQ(format_bytes(1'234'000'000'000), "1234 GB");
  EXPECT_EQ(format_bytes(UINT64_MAX), "18446744074 GB");
}

TEST(Units, CountsAndTimes) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1,000");
  EXPECT_EQ(format_count(-1234567), "-1,234,567");
  EXPECT_EQ(format_count(INT64_MIN), "-9,223,372,036,854,775,808");
  EXPECT_EQ(format_seconds(0.04), "0.0 s");
  EXPECT_EQ(format_seconds(28.4), "28 s");
  EXPECT_EQ(format_seconds(200), "3 min 20 s");
  EXPECT_EQ(format_seconds(7500), "2 h 5 min");
  EXPECT_EQ(format_seconds(-1), "0.0 s");
}

TEST(Progress, TextHasBytesRateAndTimeLeft) {
  EXPECT_EQ(progress_text("loading", 3'200'000'000, 61'400'000'000, 2),
            "loading: 3.20 GB of 61.4 GB, 1.60 GB/s, 36 s left");
  EXPECT_EQ(progress_text("loading", 5'000, 5'000, 1), "loading: 5.00 kB of 5.00 kB, 0.00 GB/s");
  EXPECT_EQ(progress_text("loading", 0, 0, 0), "loading: 0 bytes");
}

/// What comes out of `fd` until it has nothing more.
std::string drain(int fd) {
  fcntl(fd, F_SETFL, O_NONBLOCK);
  std::array<char, 4096> buffer;
  std::string text;
  for (ssize_t n = 0; (n = read(fd, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<size_t>(n));
  }
  return text;
}

TEST(Progress, PlainLinesEveryTenSecondsWithoutATerminal) {
  std::array<int, 2> ends;
  ASSERT_EQ(pipe(ends.data()), 0);
  {
    ProgressLine line("loading", ends[1]);
    for (int tenth = 0; tenth <= 250; ++tenth)
      line.update(tenth * 1'000'000, 250'000'000, tenth * 0.1);
  }
  EXPECT_EQ(drain(ends[0]),
            "loading: 100 MB of 250 MB, 0.01 GB/s, 15 s left\n"
            "loading: 200 MB of 250 MB, 0.01 GB/s, 5.0 s left\n");
  close(ends[0]);
  close(ends[1]);
}

using ProgressOnATerminal = test::OnATerminal;

TEST_F(ProgressOnATerminal, TheLineIsRedrawnAndWiped) {
  const int leader = test::open_pseudo_terminal();
  const int terminal = open(ptsname(leader), O_RDWR | O_NOCTTY);
  ASSERT_GE(terminal, 0);
  {
    ProgressLine line("loading", terminal);
    line.update(1, 10, 0.9);
    EXPECT_EQ(drain(leader), "");  // short work shows nothing
    line.update(1, 10, 1.0);
    line.update(2, 10, 1.1);
    line.update(3, 10, 1.3);
  }
  const std::string text = drain(leader);
  EXPECT_NE(text.find("\r\x1b[Kloading: 1 bytes of"), std::string::npos) << text;
  EXPECT_EQ(text.find("2 bytes of"), std::string::npos) << text;
  EXPECT_NE(text.find("\r\x1b[Kloading: 3 bytes of"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("\r\x1b[K")) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos);
  close(terminal);
  close(leader);
}

}  // namespace
}  // namespace ft
