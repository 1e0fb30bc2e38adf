// What a model's folder says about ending and choosing a reply: generation_config.json, and every
// place that names an end token.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ft/sampling.h"

namespace ft {

class Tokenizer;

struct ModelDefaults {
  /// As generation_config.json says. `do_sample` true: its temperature, top_k,
  /// top_p, min_p, or 1, 50, 1, 0 where it is silent, as the reference library
  /// fills them in. False or absent: temperature 0, the best token. The
  /// repetition penalty holds for both. Ranges are not checked.
  SamplingParams sampling;

  std::optional<int64_t> max_new_tokens;  // above 0
  std::vector<std::string> stop_strings;  // a string or a list in the file; none empty

  /// Ascending, none twice: eos_token_id of config.json (and of its text_config) and of
  /// generation_config.json, each a number or a list, and the eos_token of tokenizer_config.json, a
  /// string or an object with `content`.
  std::vector<int32_t> stop_tokens;
};

/// Files that are missing say nothing. Errors: kIo; kBadInput with the file and
/// the key for what is malformed.
ModelDefaults read_model_defaults(const std::filesystem::path& folder, const Tokenizer& tokenizer);

}  // namespace ft
