// How much of a block of memory the kernel really put into huge pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

namespace ft {

/// Where the kernel says whether it gives out huge pages: "always [madvise] never".
inline constexpr const char* kHugePagesFile = "/sys/kernel/mm/transparent_hugepage/enabled";

/// Share of touched memory that lies in huge pages, over the mappings that hold these bytes: the
/// kernel counts no finer, and may have joined the block with a neighbour of the same kind. Nothing
/// where it does not say.
std::optional<double> huge_page_share(const void* data, size_t n_bytes);

/// The same of the text of /proc/self/smaps, for tests. Reads no further than it must.
std::optional<double> huge_page_share_in(std::istream& smaps, uintptr_t begin, size_t n_bytes);

/// What to say of a block of n_bytes whose share is this: what it costs and what to do. "" for a
/// share that is good, and for a block so small that its ends decide. `enabled` is the text of
/// kHugePagesFile, "" where there is none.
std::string huge_page_note(double share, uint64_t n_bytes, std::string_view enabled);

}  // namespace ft
