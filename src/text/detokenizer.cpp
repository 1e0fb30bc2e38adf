// The decoder's steps run as a stream; see decoder.h.
#include "text/detokenizer.h"

#include "text/tokenizer_parts.h"

namespace ft {

Detokenizer::Detokenizer(const Tokenizer& tokenizer, bool skip_special)
    : tokenizer_(&tokenizer),
      skip_special_(skip_special),
      stream_(std::make_unique<DecodeStream>(tokenizer.parts_->decoder)) {}

Detokenizer::Detokenizer(Detokenizer&&) noexcept = default;
Detokenizer& Detokenizer::operator=(Detokenizer&&) noexcept = default;
Detokenizer::~Detokenizer() = default;

std::string Detokenizer::push(int32_t id) {
  const std::optional<std::string_view> token =
      tokenizer_->parts_->token_to_decode(id, skip_special_);
  return token ? stream_->push(*token) : "";
}

std::string Detokenizer::finish() {
  return stream_->finish();
}

}  // namespace ft
