// The strings of a chat template: UTF-8 in which every byte knows whether the template or a message
// wrote it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja/run.h"
#include "text/utf8.h"

namespace ft::jinja {

/// Who wrote a byte. Only the template's own text may spell special tokens.
enum class Origin : uint8_t { kContent, kTemplate };

/// An immutable string, valid UTF-8. Positions are bytes unless a name says chars (code points, as
/// Python counts).
class Text {
 public:
  struct Part {
    uint32_t end;  // the part reaches from the end of the one before to here
    Origin origin;
  };

  Text() = default;
  Text(std::string bytes, Origin origin);

  std::string_view bytes() const { return bytes_; }
  size_t size() const { return bytes_.size(); }
  size_t n_chars() const { return n_chars_; }
  bool is_ascii() const { return n_chars_ == bytes_.size(); }
  /// Neighbours differ in origin, none is empty.
  std::span<const Part> parts() const { return parts_; }
  Origin origin_at(size_t position) const;
  /// The part that holds the byte at `position`.
  size_t part_at(size_t position) const;

  /// The byte where char `index` starts; size() for n_chars(). O(1) for ASCII, else O(size).
  size_t offset_of(size_t index) const;
  /// The number of chars in front of byte `offset`.
  size_t char_of(size_t offset) const;

  /// Result of `|safe` and `|escape`: adding to it escapes the other operand.
  bool is_markup() const { return is_markup_; }

 private:
  friend class TextBuilder;
  std::string bytes_;
  std::vector<Part> parts_;
  size_t n_chars_ = 0;
  bool is_markup_ = false;
};

using TextRef = std::shared_ptr<const Text>;

/// Makes strings, and charges the run for each byte and each part of them.
/// Errors: kBadInput for a string above the limit on its size.
class TextBuilder {
 public:
  explicit TextBuilder(Run& run) : run_(run) {}

  void append(std::string_view bytes, Origin origin);
  void append(const Text& text) { append(text, 0, text.size()); }
  void append(const Text& text, size_t begin, size_t end);
  void append_char(uint32_t code_point, Origin origin);
  size_t size() const { return text_.bytes_.size(); }

  /// The string so far; the builder is empty after.
  TextRef finish(bool is_markup = false);

 private:
  static constexpr uint64_t kStepsPerText = 8;  // it takes about 150 bytes beside its own
  void mark(Origin origin);
  Run& run_;
  Text text_;
};

/// `text` from byte `begin` to byte `end`; the text itself if that is all of it.
TextRef slice(Run& run, const TextRef& text, size_t begin, size_t end);
TextRef concat(Run& run, const Text& a, const Text& b);
/// A new text: the template's own (numbers, words of the language) unless `origin` says otherwise.
TextRef made(Run& run, std::string_view bytes, Origin origin = Origin::kTemplate);

/// The first position of `needle` at or after `from`, or npos. Linear time in the worst case.
size_t find_bytes(std::string_view haystack, std::string_view needle, size_t from = 0);
/// The last position, or npos.
size_t find_last_bytes(std::string_view haystack, std::string_view needle);

size_t count_chars(std::string_view bytes);

}  // namespace ft::jinja
