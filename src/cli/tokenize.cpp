// `ft tokenize`: a text as the model sees it.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/printable.h"
#include "base/units.h"
#include "cli/chat_text.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/model_options.h"
#include "cli/options.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace ft {
namespace {

constexpr const char* kCommand = "ft tokenize";

std::string table_text(const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  std::string text;
  for (const int32_t id : ids) {
    text += fmt::format("{:>7}  {}{}\n", id, printable(tokenizer.piece(id)),
                        tokenizer.is_special(id) ? "  (special)" : "");
  }
  return text + fmt::format("{} tokens\n", format_count(std::ssize(ids)));
}

std::string json_text(const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  std::vector<std::string> pieces;
  for (const int32_t id : ids) pieces.push_back(tokenizer.piece(id));
  const nlohmann::ordered_json json{{"n_tokens", ids.size()}, {"ids", ids}, {"pieces", pieces}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

int run_tokenize(std::span<const std::string> arguments) {
  ModelOptions model;
  std::vector<std::string> words;
  bool uses_template = false, has_no_special = false, is_json = false;
  Options options(kCommand, "Shows the tokens of a text: ids and pieces of the vocabulary.");
  options.words("TEXT", words, "The text (default: standard input, every byte of it)");
  model.add_model_to(options);
  options.group("Text");
  options.flag("--template", uses_template,
               "The text is a user's message: apply the chat template");
  options.flag("--no-special", has_no_special, "The spelling of a special token is plain text");
  options.excludes("--no-special", "--template");
  options.group("Output");
  options.flag("--json", is_json, "One JSON object");
  if (!options.parse(arguments)) return 0;

  const std::string text = words_or_input(kCommand, words, /*drops_line_end=*/false);
  check_utf8(text, "the text");
  const std::string folder = model.resolve_model_dir();
  const Tokenizer tokenizer = Tokenizer::load(folder);
  print_notes(tokenizer);
  std::vector<int32_t> ids;
  if (uses_template) {
    const auto chat_template = ChatTemplate::load(folder);
    if (!chat_template) bad_input("--template: {} has no chat template", folder);
    ids =
        encode_chat(*chat_template, tokenizer, std::vector<Message>{{"user", text}}, std::nullopt);
  } else {
    ids = tokenizer.encode(text, {.recognise_special = !has_no_special});
  }
  print(is_json ? json_text(tokenizer, ids) : table_text(tokenizer, ids));
  return 0;
}

}  // namespace ft
