// UTF-8 as this folder needs it: checking, walking and writing code points, and the lossy reading
// of raw bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace ft {

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";  // U+FFFD

/// The offset of the first byte that does not belong to valid UTF-8 (no surrogates, no overlong
/// forms), or nothing.
std::optional<size_t> find_invalid_utf8(std::string_view text);

/// The code point at `position`, which is moved behind it. `text` is valid UTF-8 and `position`
/// inside it.
char32_t next_code_point(std::string_view text, size_t& position);

/// The offset of the code point that ends at `position` > 0 of valid UTF-8.
size_t previous_code_point(std::string_view text, size_t position);

/// Bytes of the UTF-8 character that starts with `lead`; 1 for a byte that starts none.
size_t utf8_length(unsigned char lead);

void append_code_point(std::string& text, char32_t code_point);

/// The beginning of `text` for a message: whole characters, about 60 bytes of them.
std::string excerpt(std::string_view text);

/// Raw bytes to valid UTF-8, piece by piece: each maximal start of a character that does not go on
/// becomes one U+FFFD, as Unicode recommends and the reference does. The result does not depend on
/// how the bytes were cut.
class LossyUtf8 {
 public:
  /// Appends what `bytes` completes to `out`; an unfinished character waits.
  void push(std::string_view bytes, std::string& out);
  /// An unfinished character becomes U+FFFD.
  void finish(std::string& out);

 private:
  std::string unfinished_;  // at most 3 bytes: a proper start of a character
};

}  // namespace ft
