#include "files/printable.h"

#include <iterator>

#include <fmt/format.h>

namespace ft {

std::string printable(std::string_view text, size_t limit_bytes) {
  size_t end = text.size();
  if (end > limit_bytes) {
    end = limit_bytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  }
  std::string shown;
  for (const char c : text.substr(0, end)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      fmt::format_to(std::back_inserter(shown), "\\x{:02X}", byte);
    } else {
      shown += c;
    }
  }
  if (end < text.size()) {
    fmt::format_to(std::back_inserter(shown), "... ({} bytes)", text.size());
  }
  return shown;
}

}  // namespace ft
