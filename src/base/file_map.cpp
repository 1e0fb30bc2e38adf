// mmap of a whole file over a slightly larger anonymous region, which supplies the zeros past the
// end.
#include "base/file_map.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/checked.h"
#include "base/error.h"

namespace ft {
namespace {

/// A descriptor that is closed when it goes out of scope.
class Descriptor {
 public:
  Descriptor(const std::filesystem::path& file, int flags)
      : Descriptor(::open(file.c_str(), flags | O_RDONLY | O_CLOEXEC), file) {}

  /// Nothing where there is no such file.
  static std::optional<Descriptor> open_if_present(const std::filesystem::path& file) {
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
    return Descriptor(fd, file);
  }

  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  operator int() const { return fd_; }

 private:
  Descriptor(int fd, const std::filesystem::path& file) : fd_(fd) {
    if (fd_ < 0) fail(ErrorKind::kIo, "cannot open {}: {}", file.string(), std::strerror(errno));
  }
  int fd_;
};

struct stat stat_of(int fd, const std::filesystem::path& file) {
  struct stat status = {};
  if (::fstat(fd, &status) != 0) {
    fail(ErrorKind::kIo, "cannot examine {}: {}", file.string(), std::strerror(errno));
  }
  return status;
}

[[noreturn]] void not_a_file(const std::filesystem::path& file, const struct stat& status,
                             std::string_view verb) {
  fail(ErrorKind::kIo, "cannot {} {}: it is {}, not a file", verb, file.string(),
       S_ISDIR(status.st_mode) ? "a folder" : "a device or a pipe");
}

[[noreturn]] void map_failed(const std::filesystem::path& file, uint64_t n_bytes) {
  fail(ErrorKind::kIo, "cannot map {} ({} bytes): {}", file.string(), n_bytes,
       std::strerror(errno));
}

[[noreturn]] void too_large(const std::filesystem::path& file, uint64_t limit_bytes) {
  bad_input("{} is larger than {} bytes, the most that such a file may have", file.string(),
            limit_bytes);
}

/// Errors: kIo for what is neither a file nor, where they are allowed, a pipe.
std::string read_all(const Descriptor& fd, const std::filesystem::path& file, uint64_t limit_bytes,
                     bool allows_pipe) {
  const struct stat status = stat_of(fd, file);
  if (!S_ISREG(status.st_mode) && !(allows_pipe && S_ISFIFO(status.st_mode))) {
    not_a_file(file, status, "read");
  }
  if (std::cmp_greater(status.st_size, limit_bytes)) too_large(file, limit_bytes);
  std::string text;
  // The size is a hint only: pipes and files under /proc have none.
  text.reserve(static_cast<size_t>(status.st_size));
  char chunk[1 << 14];
  while (true) {
    const ssize_t n_read = ::read(fd, chunk, sizeof chunk);
    if (n_read < 0 && errno == EINTR) continue;
    if (n_read < 0) {
      fail(ErrorKind::kIo, "cannot read {}: {}", file.string(), std::strerror(errno));
    }
    if (n_read == 0) return text;
    text.append(chunk, static_cast<size_t>(n_read));
    if (text.size() > limit_bytes) too_large(file, limit_bytes);
  }
}

}  // namespace

FileMap::FileMap(const std::filesystem::path& file) : path_(file) {
  const Descriptor fd(file, O_NONBLOCK);  // a pipe must not make us wait before it is refused
  const struct stat status = stat_of(fd, file);
  if (!S_ISREG(status.st_mode)) not_a_file(file, status, "map");
  const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  size_ = static_cast<size_t>(status.st_size);
  mapped_ = round_up(size_ + kReadablePastEnd, page);
  void* const region =
      ::mmap(nullptr, mapped_, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (region == MAP_FAILED) map_failed(file, mapped_);
  data_ = static_cast<std::byte*>(region);
  // The kernel fills the rest of the file's last page with zeros; pages behind it stay anonymous.
  // Touching a page of the file's own mapping behind its end would raise SIGBUS, hence the region.
  if (size_ > 0 && ::mmap(region, size_, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED) {
    const int reason = errno;
    ::munmap(region, mapped_);
    errno = reason;
    map_failed(file, size_);
  }
}

FileMap::~FileMap() {
  ::munmap(data_, mapped_);
}

std::string read_text_file(const std::filesystem::path& file, uint64_t limit_bytes) {
  return read_all(Descriptor(file, O_NONBLOCK), file, limit_bytes, false);
}

std::string read_text_file_or_pipe(const std::filesystem::path& file, uint64_t limit_bytes) {
  return read_all(Descriptor(file, 0), file, limit_bytes, true);
}

std::optional<std::string> read_text_file_if_present(const std::filesystem::path& file,
                                                     uint64_t limit_bytes) {
  const std::optional<Descriptor> fd = Descriptor::open_if_present(file);
  return fd ? std::optional(read_all(*fd, file, limit_bytes, false)) : std::nullopt;
}

}  // namespace ft
