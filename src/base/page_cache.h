// What of a file the kernel holds in memory, and how to make it forget it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace ft {

/// Bytes of a file that are in the page cache, by whole pages. Nothing for a file that is somebody
/// else's and that one may not write: of such the kernel says that all is there, whatever is. Errors:
/// kIo that names the file.
std::optional<uint64_t> cached_bytes(const std::filesystem::path& file);

/// Asks the kernel to forget what it holds of a file, which needs no rights. What a program has
/// mapped and touched, or locked, stays. Errors: kIo that names the file.
void drop_from_cache(const std::filesystem::path& file);

/// Asks the kernel to fetch bytes of a mapped file that will be read soon. A hint: it returns at once,
/// and nothing depends on it.
void read_ahead(const void* data, size_t n_bytes);

}  // namespace ft
