// Strings with provenance.
#include "text/jinja/text.h"

#include <string.h>

#include <algorithm>

namespace ft::jinja {

Text::Text(std::string bytes, Origin origin) : bytes_(std::move(bytes)) {
  if (!bytes_.empty()) parts_.push_back({static_cast<uint32_t>(bytes_.size()), origin});
  n_chars_ = count_chars(bytes_);
}

size_t Text::part_at(size_t position) const {
  auto part = std::upper_bound(parts_.begin(), parts_.end(), position,
                               [](size_t at, const Part& p) { return at < p.end; });
  return static_cast<size_t>(part - parts_.begin());
}

Origin Text::origin_at(size_t position) const {
  return parts_[part_at(position)].origin;
}

size_t Text::offset_of(size_t index) const {
  if (is_ascii()) return index;
  size_t offset = 0;
  for (; index > 0; --index) next_code_point(bytes_, offset);
  return offset;
}

size_t Text::char_of(size_t offset) const {
  return is_ascii() ? offset : count_chars(bytes().substr(0, offset));
}

void TextBuilder::mark(Origin origin) {
  auto end = static_cast<uint32_t>(text_.bytes_.size());
  if (!text_.parts_.empty() && text_.parts_.back().origin == origin) {
    text_.parts_.back().end = end;
    return;
  }
  run_.charge(1);
  text_.parts_.push_back({end, origin});
}

void TextBuilder::append(std::string_view bytes, Origin origin) {
  if (bytes.empty()) return;
  run_.charge_bytes(bytes.size());
  if (bytes.size() > run_.limits().text_bytes - size()) {
    run_.fault("the template makes a text of more than {} bytes", run_.limits().text_bytes);
  }
  text_.bytes_.append(bytes);
  mark(origin);
}

void TextBuilder::append(const Text& text, size_t begin, size_t end) {
  if (begin >= end) return;
  for (size_t i = text.part_at(begin); begin < end; ++i) {
    const Text::Part& part = text.parts_[i];
    size_t stop = std::min<size_t>(part.end, end);
    append(text.bytes().substr(begin, stop - begin), part.origin);
    begin = stop;
  }
}

void TextBuilder::append_char(uint32_t code_point, Origin origin) {
  std::string bytes;
  append_code_point(bytes, code_point);
  append(bytes, origin);
}

TextRef TextBuilder::finish(bool is_markup) {
  run_.charge(kStepsPerText);
  text_.n_chars_ = count_chars(text_.bytes_);
  text_.is_markup_ = is_markup;
  auto result = std::make_shared<const Text>(std::move(text_));
  text_ = Text();
  return result;
}

TextRef slice(Run& run, const TextRef& text, size_t begin, size_t end) {
  if (begin == 0 && end == text->size() && !text->is_markup()) return text;
  TextBuilder out(run);
  out.append(*text, begin, end);
  return out.finish();
}

TextRef concat(Run& run, const Text& a, const Text& b) {
  TextBuilder out(run);
  out.append(a);
  out.append(b);
  return out.finish();
}

TextRef made(Run& run, std::string_view bytes, Origin origin) {
  TextBuilder out(run);
  out.append(bytes, origin);
  return out.finish();
}

size_t find_bytes(std::string_view haystack, std::string_view needle, size_t from) {
  if (from > haystack.size()) return std::string_view::npos;
  if (needle.empty()) return from;
  // memmem of the C library is linear; std::string_view::find is not.
  const void* found =
      memmem(haystack.data() + from, haystack.size() - from, needle.data(), needle.size());
  if (found == nullptr) return std::string_view::npos;
  return static_cast<size_t>(static_cast<const char*>(found) - haystack.data());
}

size_t find_last_bytes(std::string_view haystack, std::string_view needle) {
  std::string backwards(haystack.rbegin(), haystack.rend());
  std::string wanted(needle.rbegin(), needle.rend());
  size_t found = find_bytes(backwards, wanted);
  if (found == std::string_view::npos) return found;
  return haystack.size() - found - needle.size();
}

size_t count_chars(std::string_view bytes) {
  return static_cast<size_t>(std::count_if(bytes.begin(), bytes.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
  }));
}

}  // namespace ft::jinja
