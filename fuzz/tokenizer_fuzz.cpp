// Any bytes as a tokenizer.json: refused with an Error, or a tokenizer that encodes and decodes
// without harm.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "ft/error.h"
#include "text/detokenizer.h"
#include "text/tokenizer.h"

namespace {

void use(const ft::Tokenizer& tokenizer) {
  for (const std::string_view text : {"", "Hello <x> world\n\n  12345",
                                      "a\xCC\x81\xE4\xBD\xA0 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"}) {
    std::vector<int32_t> ids = tokenizer.encode(text);
    ids.insert(ids.end(), {-1, 0, 1, 2, 3, INT32_MAX});
    std::string streamed;
    ft::Detokenizer detokenizer(tokenizer, false);
    for (const int32_t id : ids) {
      streamed += detokenizer.push(id);
      tokenizer.bytes_of(id);
    }
    streamed += detokenizer.finish();
    FT_CHECK(streamed == tokenizer.decode(ids, false), "a stream equals decode");
  }
  tokenizer.description();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    use(ft::Tokenizer::parse(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz"));
  } catch (const ft::Error&) {
  }
  return 0;
}
