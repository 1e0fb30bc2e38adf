// What a model's folder says about ending and choosing a reply: generation_config.json, and every
// place that names an end token.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "ft/sampling.h"

namespace ft {

class Tokenizer;

struct ModelDefaults {
  /// As generation_config.json says. `do_sample` true: its temperature, top_k, top_p, min_p, or 1,
  /// 50, 1, 0 where it is silent, as the reference library fills them in. False or absent:
  /// temperature 0, the best token. The repetition penalty holds for both.
  SamplingParams sampling;

  /// Ascending, none twice: eos_token_id of config.json (and of its text_config) and of
  /// generation_config.json, each a number or a list, and the eos_token of tokenizer_config.json, a
  /// string or an object with `content`.
  std::vector<int32_t> stop_tokens;
};

/// Files that are missing say nothing. Errors: kBadInput with the file and the key for what is
/// malformed or out of range.
ModelDefaults read_model_defaults(const std::filesystem::path& folder, const Tokenizer& tokenizer);

}  // namespace ft
