// FileMap and read_text_file, with sizes around page ends and with what is not a file.
#include "base/file_map.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "ft/error.h"

namespace ft {
namespace {

namespace fs = std::filesystem;

class FileMapTest : public testing::Test {
 protected:
  FileMapTest() {
    std::string name = (fs::temp_directory_path() / "ft_file_map_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    folder_ = name;
  }
  ~FileMapTest() override { fs::remove_all(folder_); }

  fs::path write(const std::string& content) const {
    const fs::path file = folder_ / "file";
    std::ofstream(file, std::ios::binary) << content;
    return file;
  }

  template <typename Action>
  static ErrorKind kind_of_error(Action&& action) {
    try {
      action();
    } catch (const Error& error) {
      last_text_ = error.what();
      return error.kind();
    }
    last_text_ = "no Error";
    return ErrorKind::kDevice;
  }

  fs::path folder_;
  static inline std::string last_text_;
};

TEST_F(FileMapTest, GivesTheBytesAndZerosBehindThem) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  for (const size_t n_bytes : {size_t{0}, size_t{1}, page - 257, page - 256, page - 255, page - 1,
                               page, page + 1, 3 * page}) {
    std::string content(n_bytes, '\0');
    for (size_t i = 0; i < n_bytes; ++i) content[i] = static_cast<char>(i * 7 + 1);
    const FileMap map(write(content));
    ASSERT_EQ(map.bytes().size(), n_bytes);
    const auto* bytes = reinterpret_cast<const char*>(map.bytes().data());
    EXPECT_TRUE(std::equal(content.begin(), content.end(), bytes)) << n_bytes;
    EXPECT_EQ(std::count(bytes + n_bytes, bytes + n_bytes + FileMap::kReadablePastEnd, '\0'),
              static_cast<std::ptrdiff_t>(FileMap::kReadablePastEnd))
        << n_bytes;
  }
}

TEST_F(FileMapTest, RefusesWhatIsNotAFile) {
  EXPECT_EQ(kind_of_error([&] { FileMap{folder_}; }), ErrorKind::kIo);
  EXPECT_NE(last_text_.find("folder"), std::string::npos) << last_text_;
  EXPECT_EQ(kind_of_error([&] { FileMap{folder_ / "none"}; }), ErrorKind::kIo);
  EXPECT_NE(last_text_.find("none: No such file"), std::string::npos) << last_text_;
  EXPECT_EQ(kind_of_error([] { FileMap{"/dev/zero"}; }), ErrorKind::kIo);
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(kind_of_error([&] { FileMap{pipe}; }),
            ErrorKind::kIo);  // and does not wait for a writer
}

TEST_F(FileMapTest, ReadsATextFileUpToItsLimit) {
  EXPECT_EQ(read_text_file(write(""), 0), "");
  const std::string text(100'000, 'x');
  EXPECT_EQ(read_text_file(write(text), 100'000), text);
  EXPECT_EQ(kind_of_error([&] { read_text_file(folder_ / "file", 99'999); }), ErrorKind::kBadInput);
  EXPECT_NE(last_text_.find("99999"), std::string::npos) << last_text_;
  EXPECT_EQ(kind_of_error([] { read_text_file("/dev/zero", 1000); }), ErrorKind::kIo);
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(kind_of_error([&] { read_text_file(pipe, 1000); }),
            ErrorKind::kIo);  // and does not wait
  EXPECT_EQ(kind_of_error([&] { read_text_file(folder_, 1000); }), ErrorKind::kIo);
  EXPECT_FALSE(read_text_file("/proc/self/status", 1 << 20).empty());  // states a size of 0
}

}  // namespace
}  // namespace ft
