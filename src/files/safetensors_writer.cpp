// Header first, then the values; tensors of wider elements come first, so that each one is aligned
// to its element.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include <nlohmann/json.hpp>

#include "base/checked.h"
#include "base/error.h"
#include "base/printable.h"
#include "ft/tensors.h"
#include "tensor/dtype.h"

namespace ft {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little endian");

namespace fs = std::filesystem;

std::span<const std::byte> bytes_of(const NamedTensor& tensor) {
  return std::visit([](auto values) { return std::as_bytes(values); }, tensor.values);
}

DType dtype_of(const NamedTensor& tensor) {
  return std::holds_alternative<std::span<const float>>(tensor.values) ? DType::kF32 : DType::kI64;
}

std::string dump(const nlohmann::ordered_json& header) {
  try {
    return header.dump();
  } catch (const nlohmann::json::exception&) {
    bad_input("a tensor's name is not UTF-8");
  }
}

/// The length and the JSON text, padded with spaces to a multiple of 8 bytes.
std::string header_for(const std::vector<const NamedTensor*>& order) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  uint64_t offset = 0;
  for (const NamedTensor* tensor : order) {
    const uint64_t end = offset + bytes_of(*tensor).size();
    uint64_t n_bytes = size_of(dtype_of(*tensor));
    for (const int64_t extent : tensor->shape) n_bytes *= static_cast<uint64_t>(extent);
    if (n_bytes != end - offset) {
      bad_input("tensor {}: its shape takes {} bytes, its values have {}", printable(tensor->name),
                n_bytes, end - offset);
    }
    if (header.contains(tensor->name)) bad_input("two tensors {}", printable(tensor->name));
    header[tensor->name] = {{"dtype", name_of(dtype_of(*tensor))},
                            {"shape", tensor->shape},
                            {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = dump(header);
  text.resize(round_up(text.size(), 8), ' ');
  const uint64_t length = text.size();
  std::string file_header(sizeof length, '\0');
  std::memcpy(file_header.data(), &length, sizeof length);
  return file_header + text;
}

/// A new file beside `target` that is removed again unless it took the target's name.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& target) : target_(target) {
    static std::atomic<int> counter = 0;
    path_ = target;
    path_ += fmt::format(".{}-{}.tmp", ::getpid(), counter++);
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0) failed("create", path_);
  }
  ~TemporaryFile() {
    if (fd_ >= 0) ::close(fd_);
    if (!is_committed_) ::unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t n_written = ::write(fd_, bytes.data(), bytes.size());
      if (n_written < 0 && errno == EINTR) continue;
      if (n_written < 0) failed("write", path_);
      bytes = bytes.subspan(static_cast<size_t>(n_written));
    }
  }

  void commit() {
    if (::fsync(fd_) != 0) failed("flush", path_);
    if (::close(std::exchange(fd_, -1)) != 0) failed("close", path_);
    if (::rename(path_.c_str(), target_.c_str()) != 0) failed("rename to", target_);
    is_committed_ = true;
    flush_folder();
  }

 private:
  [[noreturn]] static void failed(const char* action, const fs::path& file) {
    fail(ErrorKind::kIo, "cannot {} {}: {}", action, file.string(), std::strerror(errno));
  }

  /// Makes the new name last. Some file systems cannot flush a folder; the file itself is safe
  /// then.
  void flush_folder() const {
    const fs::path folder = target_.has_parent_path() ? target_.parent_path() : fs::path(".");
    const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    ::fsync(fd);
    ::close(fd);
  }

  fs::path target_;
  fs::path path_;
  int fd_ = -1;
  bool is_committed_ = false;
};

/// Renaming over a device such as /dev/null would replace it.
void refuse_special(const fs::path& target) {
  struct stat status = {};
  if (::stat(target.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    fail(ErrorKind::kIo, "cannot write {}: it is a folder, a device or a pipe; name a file",
         target.string());
  }
}

}  // namespace

void write_safetensors(const fs::path& file, std::span<const NamedTensor> tensors) {
  refuse_special(file);
  std::vector<const NamedTensor*> order;
  for (const NamedTensor& tensor : tensors) order.push_back(&tensor);
  std::stable_sort(order.begin(), order.end(), [](const NamedTensor* a, const NamedTensor* b) {
    return size_of(dtype_of(*a)) > size_of(dtype_of(*b));
  });
  const std::string header = header_for(order);
  TemporaryFile temporary(file);
  temporary.write(std::as_bytes(std::span(header)));
  for (const NamedTensor* tensor : order) temporary.write(bytes_of(*tensor));
  temporary.commit();
}

}  // namespace ft
