// The alphabet of byte-level vocabularies: each byte is spelled by one printable character (a blank
// by "Ġ").
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ft {

inline constexpr char32_t kByteLevelEnd = 0x144;  // all characters of the alphabet are below

/// Appends the character that stands for `byte`.
void append_byte_level(std::string& text, unsigned char byte);

/// The bytes that a piece stands for; nothing if it has a character outside the alphabet.
std::optional<std::string> bytes_of_byte_level(std::string_view piece);

}  // namespace ft
