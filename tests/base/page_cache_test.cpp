// What the kernel holds of a file that was just written, and after it was asked to forget it.
#include "base/page_cache.h"

#include <sys/vfs.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <linux/magic.h>

#include "base/file_map.h"
#include "ft/error.h"
#include "tests/support/temporary_folder.h"

namespace ft::test {
namespace {

TEST(PageCache, ForgetsAFileWhenAsked) {
  const TemporaryFolder folder;
  folder.write("weights", std::string(3'000'001, 'x'));
  const auto file = folder.path() / "weights";
  EXPECT_EQ(cached_bytes(file), 3'000'001u);
  drop_from_cache(file);
  struct statfs system {};
  ASSERT_EQ(statfs(file.c_str(), &system), 0);
  if (system.f_type == TMPFS_MAGIC) {  // there is no disk behind it
    EXPECT_EQ(cached_bytes(file), 3'000'001u);
  } else {
    EXPECT_EQ(cached_bytes(file), 0u);
  }
}

TEST(PageCache, NothingIsSaidOfAFileThatBelongsToOthers) {
  constexpr uid_t kNobody = 65534;
  const char* file = "/etc/passwd";  // root's, and all may read it
  const bool is_root = geteuid() == 0;
  if (is_root) {
    EXPECT_NE(cached_bytes(file), std::nullopt);
    ASSERT_EQ(seteuid(kNobody), 0);
  }
  const std::optional<uint64_t> cached = cached_bytes(file);
  if (is_root) {
    ASSERT_EQ(seteuid(0), 0);
  }
  EXPECT_EQ(cached, std::nullopt);
}

TEST(PageCache, AHintChangesNothingThatIsRead) {
  const TemporaryFolder folder;
  folder.write("weights", std::string(100'000, 'x'));
  drop_from_cache(folder.path() / "weights");
  const FileMap map(folder.path() / "weights");
  read_ahead(map.bytes().data() + 5001, 70'000);
  read_ahead(nullptr, 0);
  EXPECT_EQ(map.bytes()[5001], std::byte{'x'});
  EXPECT_EQ(map.bytes().back(), std::byte{'x'});
}

TEST(PageCache, HoldsNothingOfAnEmptyFile) {
  const TemporaryFolder folder;
  folder.write("empty", "");
  const auto file = folder.path() / "empty";
  EXPECT_EQ(cached_bytes(file), 0u);
  drop_from_cache(file);
}

TEST(PageCache, AFileThatIsNotThereIsNamed) {
  for (auto* function : {+[](const char* file) { cached_bytes(file); },
                         +[](const char* file) { drop_from_cache(file); }}) {
    try {
      function("no such file");
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kIo);
      EXPECT_NE(std::string(error.what()).find("no such file"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace ft::test
