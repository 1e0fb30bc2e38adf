// A file mapped read-only, with readable zeros behind its end, so that a wide load at the tail is
// harmless.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace ft {

class FileMap {
 public:
  static constexpr size_t kReadablePastEnd = 512;

  /// Errors: kIo that names the file and the reason. A folder or a device is refused.
  explicit FileMap(const std::filesystem::path& file);
  ~FileMap();
  FileMap(const FileMap&) = delete;
  FileMap& operator=(const FileMap&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::byte* data_ = nullptr;  // start of the mapping, page aligned
  size_t size_ = 0;            // of the file
  size_t mapped_ = 0;          // of the mapping
};

/// The whole file as a string. Errors: kIo, also for a pipe, a folder or a device; kBadInput if it
/// is larger than `limit_bytes`, before anything is read.
std::string read_text_file(const std::filesystem::path& file, uint64_t limit_bytes);

/// The same for what a shell may give in place of a file: waits for who writes to a pipe.
std::string read_text_file_or_pipe(const std::filesystem::path& file, uint64_t limit_bytes);

/// The same, but nothing if there is no such file. Errors as above for what is there and cannot be
/// read, a loop of links included.
std::optional<std::string> read_text_file_if_present(const std::filesystem::path& file,
                                                     uint64_t limit_bytes);

}  // namespace ft
