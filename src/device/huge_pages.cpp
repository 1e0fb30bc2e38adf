// smaps gives a line "begin-end permissions ..." for each mapping, by ascending address, and below
// it lines "key: value kB".
#include "device/huge_pages.h"

#include <charconv>
#include <fstream>

#include <fmt/format.h>

#include "base/system_files.h"
#include "base/units.h"

namespace ft {
namespace {

struct Range {
  uintptr_t begin = 0;
  uintptr_t end = 0;
};

/// Nothing for a line that does not begin a mapping.
std::optional<Range> parse_range(std::string_view line) {
  Range range;
  const char* const end = line.data() + line.size();
  const auto [dash, error] = std::from_chars(line.data(), end, range.begin, 16);
  if (error != std::errc() || dash == end || *dash != '-') return std::nullopt;
  const auto [space, more] = std::from_chars(dash + 1, end, range.end, 16);
  if (more != std::errc() || space == end || *space != ' ') return std::nullopt;
  return range;
}

}  // namespace

std::optional<double> huge_page_share_in(std::istream& smaps, uintptr_t begin, size_t n_bytes) {
  const uintptr_t end = begin + n_bytes;
  uint64_t touched_kb = 0, huge_kb = 0;
  bool is_inside = false, is_last = false;
  for (std::string line; std::getline(smaps, line);) {
    if (const auto range = parse_range(line)) {
      if (range->begin >= end) break;
      is_inside = range->end > begin;
      is_last = range->end >= end;
    } else if (is_inside) {
      touched_kb += find_system_value(line, "Rss:").value_or(0);
      const auto value_kb = find_system_value(line, "AnonHugePages:");
      huge_kb += value_kb.value_or(0);
      if (value_kb && is_last) break;  // it stands below "Rss:"
    }
  }
  if (touched_kb == 0) return std::nullopt;
  return static_cast<double>(huge_kb) / static_cast<double>(touched_kb);
}

std::optional<double> huge_page_share(const void* data, size_t n_bytes) {
  // The kernel walks the pages of as many mappings as it needs to fill the buffer: with a little one
  // it stops behind the block, before the files that are mapped above it.
  char little[256];
  std::ifstream smaps;
  smaps.rdbuf()->pubsetbuf(little, sizeof little);
  smaps.open("/proc/self/smaps");
  return huge_page_share_in(smaps, reinterpret_cast<uintptr_t>(data), n_bytes);
}

std::string huge_page_note(double share, uint64_t n_bytes, std::string_view enabled) {
  constexpr double kGoodShare = 0.9;
  constexpr uint64_t kSmall = 64 << 20;
  if (share >= kGoodShare || n_bytes < kSmall) return "";
  std::string what_to_do =
      "free memory is in pieces: echo 1 > /proc/sys/vm/compact_memory, and load again";
  if (enabled.empty()) {
    what_to_do = "this kernel has none";
  } else if (enabled.find("[never]") != std::string_view::npos) {
    what_to_do =
        fmt::format("they are switched off: echo madvise > {}, and load again", kHugePagesFile);
  }
  return fmt::format(
      "only {:.0f} % of the experts' {} lie in huge pages, which makes reading them slower; {}",
      share * 100, format_bytes(n_bytes), what_to_do);
}

}  // namespace ft
