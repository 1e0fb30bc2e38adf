#include "base/page_cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/file_map.h"

namespace ft {
namespace {

/// The kernel's own condition, but for processes that have no right but one to act as any owner.
bool is_told_of(const std::filesystem::path& file) {
  struct stat info = {};
  return (::stat(file.c_str(), &info) == 0 && info.st_uid == ::geteuid()) ||
         ::faccessat(AT_FDCWD, file.c_str(), W_OK, AT_EACCESS) == 0;
}

}  // namespace

std::optional<uint64_t> cached_bytes(const std::filesystem::path& file) {
  const FileMap map(file);
  if (!is_told_of(file)) return std::nullopt;
  const std::span<const std::byte> bytes = map.bytes();
  if (bytes.empty()) return 0;
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> is_cached((bytes.size() + page - 1) / page);
  if (::mincore(const_cast<std::byte*>(bytes.data()), bytes.size(), is_cached.data()) != 0) {
    fail(ErrorKind::kIo, "cannot tell what of {} is in the page cache: {}", file.string(),
         std::strerror(errno));
  }
  const auto n_pages =
      std::count_if(is_cached.begin(), is_cached.end(), [](unsigned char p) { return p & 1; });
  return std::min<uint64_t>(static_cast<uint64_t>(n_pages) * page, bytes.size());
}

void drop_from_cache(const std::filesystem::path& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  int reason = fd < 0 ? errno : 0;
  if (fd >= 0) {
    ::fdatasync(fd);  // a page that is not yet on the disk would stay
    reason = ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    ::close(fd);
  }
  if (reason != 0) {
    fail(ErrorKind::kIo, "cannot drop {} from the page cache: {}", file.string(),
         std::strerror(reason));
  }
}

void read_ahead(const void* data, size_t n_bytes) {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(data) & ~(page - 1);
  const auto end = reinterpret_cast<uintptr_t>(data) + n_bytes;
  ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_WILLNEED);
}

}  // namespace ft
