// Valid UTF-8 is what table 3-7 of the Unicode standard lists; scan_character() is that table.
#include "text/utf8.h"

namespace ft {
namespace {

enum class Scan { kValid, kInvalid, kUnfinished };

struct Character {
  Scan scan = Scan::kInvalid;
  size_t n_bytes = 1;  // of the character; of its longest valid start where it is not whole
};

bool is_second_byte(unsigned char lead, unsigned char byte) {
  if (lead == 0xE0) return byte >= 0xA0 && byte <= 0xBF;
  if (lead == 0xED) return byte >= 0x80 && byte <= 0x9F;
  if (lead == 0xF0) return byte >= 0x90 && byte <= 0xBF;
  if (lead == 0xF4) return byte >= 0x80 && byte <= 0x8F;
  return (byte & 0xC0) == 0x80;
}

Character scan_character(std::string_view text, size_t position) {
  const auto lead = static_cast<unsigned char>(text[position]);
  if (lead < 0x80) return {Scan::kValid, 1};
  if (lead < 0xC2 || lead > 0xF4) return {Scan::kInvalid, 1};
  const size_t n_bytes = utf8_length(lead);
  for (size_t i = 1; i < n_bytes; ++i) {
    if (position + i >= text.size()) return {Scan::kUnfinished, i};
    const auto byte = static_cast<unsigned char>(text[position + i]);
    const bool fits = i == 1 ? is_second_byte(lead, byte) : (byte & 0xC0) == 0x80;
    if (!fits) return {Scan::kInvalid, i};
  }
  return {Scan::kValid, n_bytes};
}

}  // namespace

std::optional<size_t> find_invalid_utf8(std::string_view text) {
  for (size_t position = 0; position < text.size();) {
    const Character character = scan_character(text, position);
    if (character.scan != Scan::kValid) return position;
    position += character.n_bytes;
  }
  return std::nullopt;
}

char32_t next_code_point(std::string_view text, size_t& position) {
  const auto lead = static_cast<unsigned char>(text[position]);
  const size_t n_bytes = utf8_length(lead);
  char32_t code_point = n_bytes == 1 ? lead : lead & (0xFFU >> (n_bytes + 1));
  for (size_t i = 1; i < n_bytes; ++i) {
    code_point = code_point << 6 | (static_cast<unsigned char>(text[position + i]) & 0x3FU);
  }
  position += n_bytes;
  return code_point;
}

size_t previous_code_point(std::string_view text, size_t position) {
  do {
    --position;
  } while (position > 0 && (static_cast<unsigned char>(text[position]) & 0xC0) == 0x80);
  return position;
}

size_t utf8_length(unsigned char lead) {
  if (lead < 0xC0) return 1;
  if (lead < 0xE0) return 2;
  return lead < 0xF0 ? 3 : 4;
}

void append_code_point(std::string& text, char32_t code_point) {
  const auto byte = [&](char32_t value) { text.push_back(static_cast<char>(value)); };
  const auto tail = [&](int shift) { byte(0x80 | (code_point >> shift & 0x3F)); };
  if (code_point < 0x80) {
    byte(code_point);
  } else if (code_point < 0x800) {
    byte(0xC0 | code_point >> 6);
    tail(0);
  } else if (code_point < 0x10000) {
    byte(0xE0 | code_point >> 12);
    tail(6);
    tail(0);
  } else {
    byte(0xF0 | code_point >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

std::string excerpt(std::string_view text) {
  constexpr size_t kMaxBytes = 60;
  if (text.size() <= kMaxBytes) return std::string(text);
  size_t end = kMaxBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "...";
}

void LossyUtf8::push(std::string_view bytes, std::string& out) {
  std::string joined;
  if (!unfinished_.empty()) {
    joined = unfinished_.append(bytes);
    bytes = joined;
    unfinished_.clear();
  }
  for (size_t position = 0; position < bytes.size();) {
    const Character character = scan_character(bytes, position);
    if (character.scan == Scan::kUnfinished) {
      unfinished_ = bytes.substr(position);
      return;
    }
    if (character.scan == Scan::kValid) {
      out.append(bytes.substr(position, character.n_bytes));
    } else {
      out.append(kReplacementCharacter);
    }
    position += character.n_bytes;
  }
}

void LossyUtf8::finish(std::string& out) {
  if (!unfinished_.empty()) out.append(kReplacementCharacter);
  unfinished_.clear();
}

}  // namespace ft
