// Any bytes as a prompt, and as ids, for the shipped tokenizer: valid text comes back, streams
// equal decode, special tokens come only from segments that may be special.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "ft/error.h"
#include "text/detokenizer.h"
#include "text/stop_strings.h"
#include "text/tokenizer.h"

namespace {

const ft::Tokenizer& demo() {
  static const ft::Tokenizer tokenizer =
      ft::Tokenizer::load(std::string(FT_SOURCE_DIR) + "/models/demo");
  return tokenizer;
}

void check_stream(const std::vector<int32_t>& ids, const std::string& decoded) {
  ft::Detokenizer detokenizer(demo(), false);
  std::string streamed;
  for (const int32_t id : ids) streamed += detokenizer.push(id);
  FT_CHECK(streamed + detokenizer.finish() == decoded, "a stream equals decode");
}

void check_text(std::string_view text) {
  const std::vector<int32_t> ids = demo().encode(text);
  const std::string decoded = demo().decode(ids, false);
  FT_CHECK(decoded == text, "a byte-level tokenizer gives the text back");
  check_stream(ids, decoded);
}

// The bytes up to each newline make a segment, of the template and of the content in turn.
void check_segments(std::string_view text) {
  std::vector<ft::Segment> segments;
  for (size_t from = 0; from < text.size();) {
    const size_t end = std::min(text.find('\n', from), text.size() - 1) + 1;
    segments.push_back({std::string(text.substr(from, end - from)), segments.size() % 2 == 1});
    from = end;
  }
  const std::vector<int32_t> ids = demo().encode(segments, {});
  FT_CHECK(demo().decode(ids, false) == text, "segments join to the text");
  for (ft::Segment& segment : segments) segment.may_be_special = false;
  for (const int32_t id : demo().encode(segments, {}))
    FT_CHECK(!demo().is_special(id), "content spells no special token");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    check_text(text);
    check_segments(text);
  } catch (const ft::Error&) {  // not valid UTF-8
  }
  std::vector<int32_t> ids(size / 2);
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<int16_t>(data[2 * i] | data[2 * i + 1] << 8) % 4200;
  check_stream(ids, demo().decode(ids, false));

  ft::StopStrings stop({"<|im_end|>", "\n\n", "ab"});
  for (size_t i = 0; i < size; ++i) stop.push(text.substr(i, 1));
  stop.finish();
  return 0;
}
