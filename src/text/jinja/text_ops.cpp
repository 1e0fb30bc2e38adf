// Stripping, replacing, joining, padding, escaping.
#include "text/jinja/text_ops.h"

#include "text/jinja/unicode.h"

namespace ft::jinja {

namespace {

constexpr size_t kNone = std::string_view::npos;

// A set of chars that answers in constant time for ASCII.
class CharSet {
 public:
  explicit CharSet(const Text& chars) : chars_(chars.bytes()) {
    for (char c : chars_) {
      if (static_cast<unsigned char>(c) < 0x80) ascii_[static_cast<size_t>(c)] = true;
    }
  }
  bool has(std::string_view one) const {
    if (one.size() == 1) return ascii_[static_cast<size_t>(one[0])];
    return chars_.find(one) != kNone;
  }

 private:
  std::string_view chars_;
  bool ascii_[128] = {};
};

TextRef strip_chars(Run& run, const TextRef& text, Side side, const Text& chars) {
  CharSet set(chars);
  std::string_view bytes = text->bytes();
  size_t begin = 0, end = bytes.size();
  auto step = [&] { run.charge(chars.is_ascii() ? 0 : 1 + chars.size() / Run::kBytesPerStep); };
  while (side != Side::kRight && begin < end) {
    size_t after = begin;
    next_code_point(bytes, after);
    if (!set.has(bytes.substr(begin, after - begin))) break;
    step();
    begin = after;
  }
  while (side != Side::kLeft && begin < end) {
    size_t before = previous_code_point(bytes, end);
    if (!set.has(bytes.substr(before, end - before))) break;
    step();
    end = before;
  }
  return slice(run, text, begin, end);
}

// An empty `from` stands between all chars and at both ends.
TextRef interleave(Run& run, const TextRef& text, const Text& to, int64_t n_max) {
  TextBuilder out(run);
  size_t position = 0;
  for (int64_t n = 0; n != n_max; ++n) {
    run.charge(1);
    out.append(to);
    if (position >= text->size()) return out.finish();
    size_t begin = position;
    next_code_point(text->bytes(), position);
    out.append(*text, begin, position);
  }
  out.append(*text, position, text->size());
  return out.finish();
}

}  // namespace

TextRef strip(Run& run, const TextRef& text, Side side, const Text* chars) {
  if (chars) return strip_chars(run, text, side, *chars);
  size_t begin = side == Side::kRight ? 0 : skip_space(text->bytes(), 0);
  size_t end = side == Side::kLeft ? text->size() : trim_space_end(text->bytes(), text->size());
  return slice(run, text, std::min(begin, end), end);
}

TextRef replace(Run& run, const TextRef& text, const Text& from, const Text& to, int64_t n_max) {
  if (from.size() == 0) return interleave(run, text, to, n_max);
  TextBuilder out(run);
  size_t begin = 0;
  for (int64_t n = 0; n != n_max; ++n) {
    size_t found = find_bytes(text->bytes(), from.bytes(), begin);
    if (found == kNone) break;
    run.charge(1);
    out.append(*text, begin, found);
    out.append(to);
    begin = found + from.size();
  }
  out.append(*text, begin, text->size());
  return out.finish();
}

TextRef join(Run& run, const Text& separator, const std::vector<TextRef>& parts) {
  TextBuilder out(run);
  for (size_t i = 0; i < parts.size(); ++i) {
    run.charge(1);
    if (i > 0) out.append(separator);
    out.append(*parts[i]);
  }
  return out.finish();
}

std::vector<TextRef> split_lines(Run& run, const TextRef& text, bool keeps_ends) {
  std::vector<TextRef> lines;
  std::string_view bytes = text->bytes();
  size_t begin = 0;
  for (size_t position = 0; position < bytes.size();) {
    size_t end = position;
    uint32_t c = next_code_point(bytes, position);
    if (!is_line_end(c)) continue;
    if (c == '\r' && position < bytes.size() && bytes[position] == '\n') ++position;
    lines.push_back(slice(run, text, begin, keeps_ends ? position : end));
    begin = position;
  }
  if (begin < bytes.size()) lines.push_back(slice(run, text, begin, bytes.size()));
  return lines;
}

TextRef pad(Run& run, const TextRef& text, int64_t width, Side side, const Text& fill) {
  auto n_chars = static_cast<int64_t>(text->n_chars());
  if (width <= n_chars) return text;
  int64_t n_missing = width - n_chars;
  int64_t n_left = side == Side::kLeft ? n_missing : 0;
  // The reference puts the odd one to the left if the width is odd.
  if (side == Side::kBoth) n_left = n_missing / 2 + (n_missing & width & 1);
  TextBuilder out(run);
  auto put = [&](int64_t n) {
    for (; n > 0; --n) {
      run.charge(1);
      out.append(fill);
    }
  };
  put(n_left);
  out.append(*text);
  put(n_missing - n_left);
  return out.finish();
}

TextRef escape_html(Run& run, const Text& text) {
  constexpr std::string_view kSpecial = "&<>'\"";
  constexpr std::string_view kNames[] = {"&amp;", "&lt;", "&gt;", "&#39;", "&#34;"};
  TextBuilder out(run);
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    size_t which = kSpecial.find(text.bytes()[i]);
    if (which == std::string_view::npos) continue;
    out.append(text, begin, i);
    out.append(kNames[which], text.origin_at(i));
    begin = i + 1;
  }
  out.append(text, begin, text.size());
  return out.finish(true);
}

}  // namespace ft::jinja
