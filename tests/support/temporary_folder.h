// A folder of a test's own, removed at its end.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace ft::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    static int n_made = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("ft-test-" + std::to_string(getpid()) + "-" + std::to_string(n_made++));
    std::filesystem::create_directory(path_);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  std::string read(const std::string& file) const {
    std::ostringstream text;
    text << std::ifstream(path_ / file, std::ios::binary).rdbuf();
    return text.str();
  }
  void write(const std::string& file, const std::string& text) const {
    std::ofstream(path_ / file, std::ios::binary | std::ios::trunc) << text;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace ft::test
