// What a Tokenizer is made of; for the two sources that run it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "text/added_tokens.h"
#include "text/bpe.h"
#include "text/decoder.h"
#include "text/normalizer.h"
#include "text/pre_tokenizer.h"
#include "text/tokenizer.h"

namespace ft {

struct Tokenizer::Parts {
  Bpe model;
  AddedTokens added;
  std::vector<NormalizerStep> normalizer;
  std::vector<PreTokenizerStep> pre_tokenizer;
  std::vector<DecoderStep> decoder;
  std::vector<int32_t> prefix_ids;  // what the post-processor puts before the ids of a text,
  std::vector<int32_t> suffix_ids;  // and behind them

  /// The token that decoding sees; nothing for an unknown id, and for a special one that is to be
  /// skipped.
  std::optional<std::string_view> token_to_decode(int32_t id, bool skip_special) const;
};

}  // namespace ft
