// Each step writes a new text through Writer, which carries the marks along if there are any and
// bounds the growth: a file with a few steps that each double the text must not be able to ask for
// the whole memory.
#include "text/normalizer.h"

#include <utility>

#include "base/error.h"
#include "text/byte_level.h"
#include "text/utf8.h"

namespace ft {
namespace {

constexpr size_t kMaxGrowth =
    64;  // of one step; the compatibility forms have the largest of the honest ones, 11

class Writer {
 public:
  explicit Writer(const MarkedText& source)
      : source_(source), limit_bytes_(kMaxGrowth * (source.text.size() + 64)) {}

  // Appends `text`, which was made of the bytes [begin, end) of the source.
  void append(std::string_view text, size_t begin, size_t end) {
    if (text.size() > limit_bytes_ - result_.text.size()) {
      bad_input("a normalizer of the tokenizer makes more than {} bytes of {}", limit_bytes_,
                source_.text.size());
    }
    result_.text.append(text);
    if (source_.marks.empty()) return;
    result_.marks.append(text.size(), static_cast<char>(source_.may_be_special(begin, end)));
  }

  void copy(size_t begin, size_t end) {
    result_.text.append(source_.text, begin, end - begin);
    if (!source_.marks.empty()) result_.marks.append(source_.marks, begin, end - begin);
    limit_bytes_ += end - begin;
  }

  MarkedText finish() { return std::move(result_); }

 private:
  const MarkedText& source_;
  MarkedText result_;
  size_t limit_bytes_;
};

// `map` appends to its first argument what becomes of its second.
template <typename Map>
MarkedText map_code_points(const MarkedText& source, Map map) {
  Writer writer(source);
  std::string mapped;
  for (size_t position = 0; position < source.text.size();) {
    const size_t begin = position;
    mapped.clear();
    map(mapped, next_code_point(source.text, position));
    writer.append(mapped, begin, position);
  }
  return writer.finish();
}

MarkedText apply(const NormalizeForm& step, const MarkedText& source) {
  Writer writer(source);
  normalize_pieces(source.text, step.form, [&](std::string_view piece, size_t begin, size_t end) {
    if (piece == std::string_view(source.text).substr(begin, end - begin)) {
      writer.copy(begin, end);  // each byte keeps its own mark
    } else {
      writer.append(piece, begin, end);
    }
  });
  return writer.finish();
}

MarkedText apply(const NormalizeReplace& step, const MarkedText& source) {
  Writer writer(source);
  size_t copied = 0;
  for (const Pattern::Match& match : step.pattern.find_all(source.text)) {
    writer.copy(copied, match.begin);
    writer.append(step.content, match.begin, match.end);
    copied = match.end;
  }
  writer.copy(copied, source.text.size());
  return writer.finish();
}

MarkedText apply(const NormalizePrepend& step, const MarkedText& source) {
  Writer writer(source);
  if (!source.text.empty()) writer.append(step.prefix, 0, 1);
  writer.copy(0, source.text.size());
  return writer.finish();
}

MarkedText apply(const NormalizeStrip& step, const MarkedText& source) {
  const std::string& text = source.text;
  const size_t begin = step.left ? skip_whitespace(text, 0) : 0;
  const size_t end = step.right ? trim_whitespace_end(text, begin, text.size()) : text.size();
  return source.part(begin, end);
}

MarkedText apply(const NormalizeLowercase&, const MarkedText& source) {
  return map_code_points(source, append_lowercase);
}

MarkedText apply(const NormalizeStripAccents&, const MarkedText& source) {
  return map_code_points(source, [](std::string& mapped, char32_t c) {
    if (!is_combining_mark(c)) append_code_point(mapped, c);
  });
}

MarkedText apply(const NormalizeNmt&, const MarkedText& source) {
  return map_code_points(source, [](std::string& mapped, char32_t c) {
    const bool is_dropped = (c >= 0x01 && c <= 0x08) || c == 0x0B || (c >= 0x0E && c <= 0x1F) ||
                            c == 0x7F || c == 0x8F || c == 0x9F;
    const bool is_blank = c == 0x09 || c == 0x0A || c == 0x0C || c == 0x0D || c == 0x1680 ||
                          (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 ||
                          c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
    if (!is_dropped) append_code_point(mapped, is_blank ? U' ' : c);
  });
}

MarkedText apply(const NormalizeByteLevel&, const MarkedText& source) {
  Writer writer(source);
  std::string mapped;
  for (size_t i = 0; i < source.text.size(); ++i) {
    mapped.clear();
    append_byte_level(mapped, static_cast<unsigned char>(source.text[i]));
    writer.append(mapped, i, i + 1);
  }
  return writer.finish();
}

}  // namespace

bool MarkedText::may_be_special(size_t begin, size_t end) const {
  return marks.empty() ||
         std::string_view(marks).substr(begin, end - begin).find('\0') == std::string_view::npos;
}

MarkedText MarkedText::part(size_t begin, size_t end) const {
  return {text.substr(begin, end - begin), marks.empty() ? "" : marks.substr(begin, end - begin)};
}

MarkedText normalize(const std::vector<NormalizerStep>& steps, MarkedText text) {
  for (const NormalizerStep& step : steps) {
    text = std::visit([&](const auto& known) { return apply(known, text); }, step);
  }
  return text;
}

}  // namespace ft
