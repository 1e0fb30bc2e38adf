// The decoders of a tokenizer.json, as a flat list of steps, and the stream that runs them token by
// token.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "text/pattern.h"

namespace ft {

struct DecodeByteLevel {};     // characters to the bytes that they spell, all tokens as one
struct DecodeByteFallback {};  // runs of tokens like "<0xE4>" to the text that their bytes are
struct DecodeFuse {};          // all tokens to one
struct DecodeReplace {
  Pattern pattern;
  std::string content;
};
struct DecodeStrip {
  char32_t content;
  uint64_t n_start;  // so many of `content` at most are cut off the start of each token,
  uint64_t n_stop;   // and off its end
};
struct DecodeMetaspace {
  std::string replacement;
  bool drops_first;  // in the first token the replacement is dropped, not made a blank
};
struct DecodeJoin {};  // a blank between tokens: what the reference does if a file names no decoder

using DecoderStep = std::variant<DecodeByteLevel, DecodeByteFallback, DecodeFuse, DecodeReplace,
                                 DecodeStrip, DecodeMetaspace, DecodeJoin>;

/// The bytes that one token contributes wherever it stands.
std::string bytes_of_token(const std::vector<DecoderStep>& steps, std::string_view token);

/// Hands out text as soon as no later token can change it. The text is whole characters, always.
class DecodeStream {
 public:
  /// A stage takes text that belongs to the current token, and the ends of tokens.
  class Stage {
   public:
    virtual ~Stage() = default;
    virtual void text(std::string_view part) = 0;
    virtual void end_token() = 0;
    virtual void finish() = 0;  // after the last token
  };

  explicit DecodeStream(const std::vector<DecoderStep>& steps);  // which must outlive it
  DecodeStream(DecodeStream&&) noexcept;
  DecodeStream& operator=(DecodeStream&&) noexcept;
  ~DecodeStream();

  std::string push(std::string_view token);
  std::string finish();

 private:
  std::string take();

  std::unique_ptr<std::string> out_;
  std::vector<std::unique_ptr<Stage>>
      stages_;  // each knows the one behind it, so from the last to the first
};

}  // namespace ft
