// One reply: tokens from the session become text that is shown as it is made.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ft/engine.h"

namespace ft {

class Tokenizer;

struct AnswerOptions {
  SamplingParams sampling;
  int64_t max_tokens = 0;  // 0: until the context is full
  std::vector<int32_t> stop_tokens;
  std::vector<std::string> stop_strings;
  bool shows_special = false;
};

struct Answer {
  Reply reply;
  std::string text;        // as it was shown
  std::string plain_text;  // the same without special tokens, for the conversation that goes on
  const char* stop_reason = "";  // stop_token, stop_string, max_tokens, context_full, interrupted
  bool is_interrupted = false;
};

/// Calls `show` with each piece of text. Ends early when Ctrl-C is pressed (see Interrupts), also
/// while the prompt is read.
/// Errors: as Session::generate.
Answer generate_answer(Session& session, const Tokenizer& tokenizer, std::vector<int32_t> prompt,
                       const AnswerOptions& options,
                       const std::function<void(std::string_view)>& show);

/// Rates in tokens or 10^9 bytes a second; 0 where nothing was measured.
struct Speed {
  double prefill_tokens_per_s = 0;
  double decode_tokens_per_s = 0;
  double gbps = 0;             // weights read by the decode steps
  double read_gbps = 0;        // what this machine can read
  bool is_read_short = false;  // caches flatter it: see ReadRate
  double share_of_read = 0;    // gbps / read_gbps
};

/// Measures the machine at the first call for an engine, unless there is nothing to compare.
Speed speed_of(const Reply& reply, Engine& engine);

/// "prompt 17 tokens, 1,234 tokens/s; generated 19 tokens, 345 tokens/s; weights read at 5.1 GB/s,
/// 16 % of this machine's 33.0 GB/s"
std::string speed_text(const Reply& reply, const Speed& speed);

}  // namespace ft
