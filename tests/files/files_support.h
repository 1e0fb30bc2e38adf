// What the tests of files/ share: a scratch folder, hand-made safetensors bytes, and a look at an
// Error's kind and text.
#pragma once

#include <stdlib.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "ft/error.h"

namespace ft::test {

/// A new folder that is removed with all that is in it.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "ft_files_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  std::filesystem::path write(const std::string& name, std::string_view content) const {
    std::ofstream(path_ / name, std::ios::binary)
        .write(content.data(), static_cast<std::streamsize>(content.size()));
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_all(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// A safetensors file that states `n_header` as its header length.
inline std::string raw_safetensors(uint64_t n_header, std::string_view rest) {
  std::string file(sizeof n_header, '\0');
  std::memcpy(file.data(), &n_header, sizeof n_header);
  return file.append(rest);
}

inline std::string safetensors(std::string_view header, size_t n_data = 0) {
  return raw_safetensors(header.size(), std::string(header) + std::string(n_data, '\1'));
}

/// `action` must throw an ft::Error of this kind whose text holds every one of `parts`.
template <typename Action>
void expect_error(ErrorKind kind, std::initializer_list<std::string_view> parts, Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(error.kind(), kind) << text;
    for (const std::string_view part : parts) {
      EXPECT_NE(text.find(part), std::string::npos) << "no \"" << part << "\" in: " << text;
    }
    return;
  }
  ADD_FAILURE() << "no Error";
}

}  // namespace ft::test
