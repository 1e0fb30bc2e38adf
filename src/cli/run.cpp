// `ft run`: one prompt, one reply.
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/answer.h"
#include "cli/chat_text.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/interrupt.h"
#include "cli/model_options.h"
#include "cli/sampling_options.h"

namespace ft {
namespace {

constexpr const char* kCommand = "ft run";

struct RunOptions {
  std::vector<std::string> words;
  std::optional<std::string> system;
  bool is_raw = false;
  bool has_no_special = false;
  bool has_no_think = false;
  bool is_json = false;
  ModelOptions model;
  SamplingOptions sampling;

  bool parse(std::span<const std::string> arguments) {
    Options options(kCommand, "Answers one prompt.");
    options.words("PROMPT", words, "The prompt (default: standard input)");
    options.group("Prompt");
    options.value("--system", system, "What the model is told first");
    options.flag("--raw", is_raw, "Continue the text as it is, without the chat template");
    options.flag("--no-special", has_no_special,
                 "With --raw: the spelling of a special token is plain text");
    options.flag("--no-think", has_no_think, "Ask the template for a reply without thinking");
    options.group("Output");
    options.flag("--json", is_json, "One JSON object at the end instead of text as it is made");
    model.add_to(options);
    sampling.add_to(options);
    options.excludes("--raw", "--system");
    options.excludes("--raw", "--no-think");
    options.needs("--no-special", "--raw");
    return options.parse(arguments);
  }
};

/// Options that only a template gives a meaning to are refused where there is none.
void check_template_options(const RunOptions& options, const ChatText& text) {
  if (!text.chat_template) {
    for (const auto& [name, is_given] : {std::pair{"--system", options.system.has_value()},
                                         std::pair{"--no-think", options.has_no_think}}) {
      if (is_given) bad_input("{} needs a chat template, and {} has none", name, text.folder);
    }
  } else if (options.has_no_think && !can_switch_thinking(*text.chat_template)) {
    bad_input("--no-think has no effect: the chat template of {} knows no enable_thinking",
              text.folder);
  }
}

std::vector<int32_t> encode_prompt(const RunOptions& options, const ChatText& text,
                                   const std::string& prompt) {
  check_utf8(prompt, "the prompt");
  if (options.is_raw) {
    return text.tokenizer.encode(prompt, {.recognise_special = !options.has_no_special});
  }
  check_template_options(options, text);
  if (!text.chat_template) {
    if (!options.model.is_quiet) {
      print_line(
          fmt::format("{} has no chat template; the text is continued as it is", text.folder));
    }
    return text.tokenizer.encode(prompt);
  }
  std::vector<Message> messages;
  if (options.system) {
    check_utf8(*options.system, "--system");
    messages.push_back({"system", *options.system});
  }
  messages.push_back({"user", prompt});
  const auto is_thinking = options.has_no_think ? std::optional(false) : std::nullopt;
  return encode_chat(*text.chat_template, text.tokenizer, messages, is_thinking);
}

/// null for what could not be measured.
nlohmann::ordered_json measured(double value) {
  return value > 0 ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

std::string json_text(const Answer& answer, const Speed& speed, uint64_t seed,
                      const std::string& folder) {
  const nlohmann::ordered_json json{
      {"text", answer.text},
      {"tokens", answer.reply.tokens},
      {"n_prompt", answer.reply.n_prompt},
      {"n_generated", answer.reply.tokens.size()},
      {"stop_reason", answer.stop_reason},
      {"prefill_tokens_per_s", speed.prefill_tokens_per_s},
      {"decode_tokens_per_s", speed.decode_tokens_per_s},
      {"gbps", speed.gbps},
      {"read_gbps", measured(speed.read_gbps)},
      {"share_of_read", measured(speed.share_of_read)},
      {"is_read_short", speed.is_read_short},
      {"seed", seed},
      {"model", folder},
  };
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

int run_run(std::span<const std::string> arguments) {
  RunOptions options;
  if (!options.parse(arguments)) return 0;
  EngineOptions engine_options = options.model.resolve(kCommand);
  options.model.refuse_dummy();
  const std::string folder = engine_options.model_dir;
  const std::string prompt = words_or_input(kCommand, options.words, /*drops_line_end=*/true);
  const ChatText text = load_chat_text(folder);
  if (!options.model.is_quiet) print_notes(text.tokenizer);
  const AnswerOptions answer_options = options.sampling.resolve(kCommand, text);
  std::vector<int32_t> tokens = encode_prompt(options, text, prompt);
  engine_options.on_model = [&](const ModelReport& model) { check_prompt(tokens, model); };
  const auto engine = load_engine(std::move(engine_options), options.model.is_quiet);

  const Interrupts interrupts(Interrupts::Second::kEndsTheProgram);
  const auto session = engine->open_session();
  const Answer answer = generate_answer(*session, text.tokenizer, std::move(tokens), answer_options,
                                        [&](std::string_view piece) {
                                          if (!options.is_json) print(piece);
                                        });
  if (!options.is_json) print("\n");
  if (options.is_json || !options.model.is_quiet) {
    const Speed speed = speed_of(answer.reply, *engine);
    if (options.is_json) print(json_text(answer, speed, answer_options.sampling.seed, folder));
    if (!options.model.is_quiet) print_error(speed_text(answer.reply, speed) + "\n");
  }
  return answer.is_interrupted ? 130 : 0;
}

}  // namespace ft
