// Random texts for property tests, the same at every run.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "text/utf8.h"

namespace ft {

class RandomText {
 public:
  explicit RandomText(uint64_t seed) : engine_(seed) {}

  size_t below(size_t n) { return engine_() % n; }

  /// Valid UTF-8 of `n` code points: ASCII, blanks, Latin, Greek, Cyrillic, marks, CJK, Hangul,
  /// emoji and everything else.
  std::string valid(size_t n) {
    static constexpr char32_t kRanges[][2] = {
        {0x20, 0x7F},     {0x61, 0x7B},     {0x09, 0x0E},       {0xA0, 0x250},
        {0x300, 0x370},   {0x370, 0x500},   {0x4E00, 0x9FFF},   {0xAC00, 0xD7A4},
        {0x2000, 0x2070}, {0xE000, 0xFFFF}, {0x1F300, 0x1F6FF}, {0x10000, 0x110000}};
    std::string text;
    for (size_t i = 0; i < n; ++i) {
      const auto& range = kRanges[below(std::size(kRanges))];
      append_code_point(text, range[0] + static_cast<char32_t>(below(range[1] - range[0])));
    }
    return text;
  }

  std::string bytes(size_t n) {
    std::string text;
    for (size_t i = 0; i < n; ++i) text.push_back(static_cast<char>(below(256)));
    return text;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace ft
