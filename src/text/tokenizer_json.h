// tokenizer.json, read into plain values: what the file says, with its patterns compiled, but
// nothing built from it yet.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/added_tokens.h"
#include "text/bpe.h"
#include "text/decoder.h"
#include "text/normalizer.h"
#include "text/pre_tokenizer.h"

namespace ft {

struct TokenizerSpec {
  BpeSpec model;
  std::vector<AddedToken> added_tokens;
  std::vector<NormalizerStep> normalizer;
  std::vector<PreTokenizerStep> pre_tokenizer;
  std::vector<DecoderStep> decoder;
  std::vector<int64_t> prefix_ids;  // what the post-processor puts before the ids of a text,
  std::vector<int64_t> suffix_ids;  // and behind them
};

/// `where` names the file in messages. The fields "truncation" and "padding" are ignored: prompts
/// are never cut silently. Errors: kBadInput with the place in the file; kUnsupported for a type
/// that is not known, with the known ones.
TokenizerSpec read_tokenizer_json(std::string_view json, const std::string& where);

}  // namespace ft
