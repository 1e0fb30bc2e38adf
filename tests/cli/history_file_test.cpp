// The history of the shell on the disk.
#include "cli/history_file.h"

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/process.h"

namespace ft::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

TEST(HistoryFile, LinesOfTwoShellsAreKept) {
  Folder folder;
  const std::string path = folder.path() + "/state/freetoken/history";
  const HistoryFile one(path), other(path);
  EXPECT_THAT(one.read(10), ElementsAre());
  one.append("first");
  other.append("second");
  one.append("a\\b \"c\"\t\xc3\xa9");
  EXPECT_THAT(other.read(10), ElementsAre("first", "second", "a\\b \"c\"\t\xc3\xa9"));
  EXPECT_THAT(other.read(2), ElementsAre("second", "a\\b \"c\"\t\xc3\xa9"));
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST(HistoryFile, LinesAppendedAtTheSameTimeStayWhole) {
  Folder folder;
  const std::string path = folder.path() + "/history";
  const auto append = [&](char letter) {
    for (int i = 0; i < 200; ++i) HistoryFile(path).append(std::string(1000, letter));
  };
  std::thread one(append, 'a'), other(append, 'b');
  one.join();
  other.join();
  const std::vector<std::string> lines = HistoryFile(path).read(1000);
  EXPECT_EQ(lines.size(), 400u);
  for (const std::string& line : lines) EXPECT_EQ(line, std::string(1000, line[0]));
}

TEST(HistoryFile, WhatIsNoTextIsLeftOut) {
  Folder folder;
  const std::string path = folder.path() + "/history";
  write_file(path, "good\n\n\xff\xfe\nlast");  // the last one without its end
  EXPECT_THAT(HistoryFile(path).read(10), ElementsAre("good", "last"));
}

TEST(HistoryFile, ALongFileIsCutDownToWhatIsRead) {
  Folder folder;
  const std::string path = folder.path() + "/history";
  std::string text;
  for (int i = 0; i < 600'000; ++i) text += "line " + std::to_string(i) + "\n";
  write_file(path, text);
  EXPECT_THAT(HistoryFile(path).read(2), ElementsAre("line 599998", "line 599999"));
  EXPECT_EQ(read_file(path), "line 599998\nline 599999\n");
}

TEST(HistoryFile, WithoutAPlaceNothingIsKeptAndNothingFails) {
  Folder folder;
  fs::create_symlink("loop", folder.path() + "/loop");
  write_file(folder.path() + "/file", "");
  for (const std::string& path : {std::string(), folder.path(), folder.path() + "/loop",
                                  folder.path() + "/file/below", std::string("/dev/full")}) {
    HistoryFile(path).append("x");
    EXPECT_THAT(HistoryFile(path).read(10), ElementsAre()) << path;
  }
}

}  // namespace
}  // namespace ft::test
