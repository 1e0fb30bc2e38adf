// Shares of huge pages in made-up tables of mappings, and of memory that was just touched.
#include "device/huge_pages.h"

#include <sys/mman.h>

#include <cstring>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/system_files.h"
#include "device/buffer.h"

namespace ft {
namespace {

using testing::HasSubstr;

constexpr const char* kTable =
    "10000-20000 rw-p 00000000 00:00 0 \n"
    "Size:                 64 kB\n"
    "Rss:                  64 kB\n"
    "AnonHugePages:         0 kB\n"
    "VmFlags: rd wr mr mw me ac \n"
    "7f0000000000-7f0000800000 rw-p 00000000 00:00 0 [anon: bank]\n"
    "Size:               8192 kB\n"
    "Rss:                6144 kB\n"
    "AnonHugePages:      4096 kB\n"
    "7f0000800000-7f0000c00000 rw-p 00000000 00:00 0 \n"
    "Rss:                4096 kB\n"
    "AnonHugePages:         0 kB\n"
    "7f0000c00000-7f0000e00000 r--p 00000000 08:01 77   /models/ffff-00 x.safetensors\n"
    "Rss:                1024 kB\n"
    "AnonHugePages:         0 kB\n";

std::optional<double> share(uintptr_t begin, size_t n_bytes) {
  std::istringstream table(kTable);
  return huge_page_share_in(table, begin, n_bytes);
}

TEST(HugePages, CountTheMappingsThatHoldTheBytes) {
  EXPECT_DOUBLE_EQ(share(0x7f0000000000, 0x800000).value(), 4096.0 / 6144);
  EXPECT_DOUBLE_EQ(share(0x7f0000001000, 10).value(), 4096.0 / 6144);
  EXPECT_DOUBLE_EQ(share(0x7f0000400000, 0x800000).value(), 4096.0 / (6144 + 4096));
  EXPECT_DOUBLE_EQ(share(0x7f0000800000, 1).value(), 0);
  EXPECT_FALSE(share(0x20000, 0x1000).has_value());
  EXPECT_FALSE(share(0x7f0000e00000, 0x1000).has_value());
}

TEST(HugePages, WhatLiesBehindIsNotRead) {
  std::istringstream table(kTable);
  huge_page_share_in(table, 0x10000, 0x1000);
  std::string next;
  std::getline(table, next);
  EXPECT_EQ(next, "VmFlags: rd wr mr mw me ac ");
}

TEST(HugePages, OfTouchedMemoryAreWhatWasAskedFor) {
  const std::string enabled =
      read_system_file("/sys/kernel/mm/transparent_hugepage/enabled").value_or("");
  constexpr size_t kBytes = 32 << 20;
  Buffer buffer(kBytes);
  std::memset(buffer.data(), 1, kBytes);
  const auto with = huge_page_share(buffer.data(), kBytes);
  ASSERT_TRUE(with.has_value());
  EXPECT_GE(*with, 0);
  EXPECT_LE(*with, 1);
  if (enabled.empty() || enabled.find("[never]") != std::string::npos) {
    EXPECT_EQ(*with, 0);
  }

  Buffer small(kBytes);
  ASSERT_EQ(madvise(small.data(), kBytes, MADV_NOHUGEPAGE), 0);
  std::memset(small.data(), 1, kBytes);
  EXPECT_EQ(huge_page_share(small.data(), kBytes), 0);
}

TEST(HugePages, ANoteSaysWhatToDo) {
  constexpr uint64_t kBank = uint64_t{2} << 30;
  EXPECT_EQ(huge_page_note(0.9, kBank, "always [madvise] never"), "");
  EXPECT_EQ(huge_page_note(0, 8 << 20, "always madvise [never]"), "");
  EXPECT_THAT(huge_page_note(0, kBank, "always madvise [never]"),
              HasSubstr("0 % of the experts' 2.15 GB"));
  EXPECT_THAT(huge_page_note(0, kBank, "always madvise [never]"), HasSubstr("echo madvise"));
  EXPECT_THAT(huge_page_note(0.5, kBank, "always [madvise] never"), HasSubstr("compact_memory"));
  EXPECT_THAT(huge_page_note(0, kBank, ""), HasSubstr("has none"));
}

}  // namespace
}  // namespace ft
