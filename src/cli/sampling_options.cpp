// Options to AnswerOptions.
#include "cli/sampling_options.h"

#include <random>

#include <fmt/format.h>

#include "base/error.h"
#include "cli/console.h"

namespace ft {
namespace {

/// The ranges are those of check_sampling() and stand nowhere else.
void check_defaults(const SamplingParams& params, const std::string& folder) {
  try {
    check_sampling(params);
  } catch (const Error& error) {
    bad_input("{}/generation_config.json: {}", folder, error.what());
  }
}

void check_given(const std::string& command, const SamplingParams& params) {
  try {
    check_sampling(params);
  } catch (const Error& error) {
    throw UsageError(command, std::string("--") + error.what());
  }
}

void refuse_without_draw(const std::string& command, const char* option, bool is_given) {
  if (!is_given) return;
  throw UsageError(command,
                   fmt::format("{} has no effect where the best token is taken anyway; add "
                               "--temperature above 0",
                               option));
}

}  // namespace

void SamplingOptions::add_to(Options& options) {
  options.group("Sampling (defaults from the model's generation_config.json)");
  options.value("--temperature", temperature, "Divides the logits; 0 takes the best token");
  options.value("--top-k", top_k, "Keep the N best tokens; 0 keeps all");
  options.value("--top-p", top_p,
                "Keep the best tokens that together reach this probability; 0 keeps the best one");
  options.value("--min-p", min_p, "Keep tokens at least this share as probable as the best");
  options.value("--repetition-penalty", repetition_penalty,
                "Weakens tokens of the prompt and the reply; 1 does nothing");
  options.value("--presence-penalty", presence_penalty, "Subtracted once from tokens of the reply");
  options.value("--frequency-penalty", frequency_penalty,
                "Subtracted for each time that a token is in the reply");
  options.value("--seed", seed, "Same seed, same text (default: drawn)");
  options.flag("--greedy", is_greedy, "Take the best token, as --temperature 0");
  options.excludes("--greedy", "--temperature");
  options.group("Reply");
  options.value("--max-tokens", max_tokens,
                "End after N tokens (default: the model's, or when the context is full)", {1, 1e9});
  options.repeated(
      "--stop", stop_strings,
      "End in front of this text, and of the model's own no more; may be given several times");
  options.flag("--special", shows_special, "Show special tokens in the reply");
}

void SamplingOptions::override_params(SamplingParams& params) const {
  params.temperature = is_greedy ? 0 : temperature.value_or(params.temperature);
  params.top_k = top_k.value_or(params.top_k);
  params.top_p = top_p.value_or(params.top_p);
  params.min_p = min_p.value_or(params.min_p);
  params.repetition_penalty = repetition_penalty.value_or(params.repetition_penalty);
  params.presence_penalty = presence_penalty.value_or(params.presence_penalty);
  params.frequency_penalty = frequency_penalty.value_or(params.frequency_penalty);
}

AnswerOptions SamplingOptions::resolve(const std::string& command, const ChatText& text) const {
  AnswerOptions answer;
  SamplingParams& params = answer.sampling;
  params = text.defaults.sampling;
  check_defaults(params, text.folder);
  override_params(params);
  check_given(command, params);
  if (params.temperature == 0) {
    refuse_without_draw(command, "--top-k", top_k.has_value());
    refuse_without_draw(command, "--top-p", top_p.has_value());
    refuse_without_draw(command, "--min-p", min_p.has_value());
    refuse_without_draw(command, "--seed", seed.has_value());
  } else {
    params.seed = seed ? *seed : std::random_device()();
  }
  for (const std::string& stop : stop_strings) check_utf8(stop, "--stop");
  answer.max_tokens = max_tokens.value_or(text.defaults.max_new_tokens.value_or(0));
  answer.stop_strings = stop_strings.empty() ? text.defaults.stop_strings : stop_strings;
  answer.stop_tokens = text.defaults.stop_tokens;
  answer.shows_special = shows_special;
  return answer;
}

}  // namespace ft
