#include "base/printable.h"

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
  for (size_t i = 0; i < end; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool is_c1 =
        byte == 0xC2 && i + 1 < end && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (byte < 0x20 || byte == 0x7F || is_c1) {
      fmt::format_to(std::back_inserter(shown), "\\x{:02X}", byte);
      if (is_c1)
        fmt::format_to(std::back_inserter(shown), "\\x{:02X}",
                       static_cast<unsigned char>(text[++i]));
    } else {
      shown += text[i];
    }
  }
  if (end < text.size()) {
    fmt::format_to(std::back_inserter(shown), "... ({} bytes)", text.size());
  }
  return shown;
}

}  // namespace ft
