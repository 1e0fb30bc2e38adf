// Printable Latin-1 stands for itself; the 68 other bytes take the code points from U+0100 on, in
// order.
#include "text/byte_level.h"

#include <array>
#include <cstdint>

#include "text/utf8.h"

namespace ft {
namespace {

constexpr bool is_printable(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xFF && byte != 0xAD);
}

struct Alphabet {
  std::array<char32_t, 256> of_byte{};
  std::array<int16_t, kByteLevelEnd> to_byte{};  // -1: no character of the alphabet

  constexpr Alphabet() {
    to_byte.fill(-1);
    char32_t next = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      const char32_t character = is_printable(byte) ? static_cast<char32_t>(byte) : next++;
      of_byte[static_cast<size_t>(byte)] = character;
      to_byte[character] = static_cast<int16_t>(byte);
    }
  }
};

constexpr Alphabet kAlphabet;

}  // namespace

void append_byte_level(std::string& text, unsigned char byte) {
  append_code_point(text, kAlphabet.of_byte[byte]);
}

std::optional<std::string> bytes_of_byte_level(std::string_view piece) {
  std::string bytes;
  for (size_t position = 0; position < piece.size();) {
    const char32_t character = next_code_point(piece, position);
    if (character >= kByteLevelEnd || kAlphabet.to_byte[character] < 0) return std::nullopt;
    bytes.push_back(static_cast<char>(kAlphabet.to_byte[character]));
  }
  return bytes;
}

}  // namespace ft
