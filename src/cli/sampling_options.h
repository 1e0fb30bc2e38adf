// How a reply is chosen and when it ends, from the command line and from what the model's folder
// says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/answer.h"
#include "cli/chat_text.h"
#include "cli/options.h"

namespace ft {

struct SamplingOptions {
  std::optional<float> temperature;
  std::optional<int32_t> top_k;
  std::optional<float> top_p;
  std::optional<float> min_p;
  std::optional<float> repetition_penalty;
  std::optional<float> presence_penalty;
  std::optional<float> frequency_penalty;
  std::optional<uint64_t> seed;
  std::optional<int64_t> max_tokens;
  std::vector<std::string> stop_strings;
  bool is_greedy = false;
  bool shows_special = false;

  void add_to(Options& options);

  /// What is not given comes from `text.defaults`; the seed is drawn. Errors: UsageError for a value
  /// out of range and for an option without effect, such as --top-p where the best token is taken
  /// anyway; kBadInput for a stop string that is not UTF-8, and, with the file, for a default out of
  /// range.
  AnswerOptions resolve(const std::string& command, const ChatText& text) const;

 private:
  void override_params(SamplingParams& params) const;
};

}  // namespace ft
