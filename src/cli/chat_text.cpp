// Reading of the text side, and the message list that a template wants.
#include "cli/chat_text.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include "cli/console.h"

namespace ft {

namespace fs = std::filesystem;

std::optional<Tokenizer> load_tokenizer_if_present(const std::string& folder) {
  // A link that leads nowhere is a mistake and no absence: load() says so.
  std::error_code error;
  const auto status = fs::symlink_status(fs::path(folder) / "tokenizer.json", error);
  if (status.type() == fs::file_type::not_found) return std::nullopt;
  return Tokenizer::load(folder);
}

ChatText load_chat_text(const std::string& folder) {
  Tokenizer tokenizer = Tokenizer::load(folder);
  auto chat_template = ChatTemplate::load(folder);
  ModelDefaults defaults = read_model_defaults(folder, tokenizer);
  return {folder, std::move(tokenizer), std::move(chat_template), std::move(defaults)};
}

void print_notes(const Tokenizer& tokenizer) {
  for (const std::string& note : tokenizer.notes()) {
    print_line(note);
  }
}

std::vector<int32_t> encode_chat(const ChatTemplate& chat_template, const Tokenizer& tokenizer,
                                 std::span<const Message> messages,
                                 std::optional<bool> is_thinking) {
  auto list = nlohmann::json::array();
  for (const Message& message : messages) {
    list.push_back({{"role", message.role}, {"content", message.content}});
  }
  ChatTemplate::Input input;
  input.messages_json = list.dump();
  if (is_thinking) {
    const nlohmann::json variables{{"enable_thinking", *is_thinking}, {"thinking", *is_thinking}};
    input.variables_json = variables.dump();
  }
  const std::vector<Segment> segments = chat_template.render(input);
  // The template itself spells the tokens that a text begins with.
  return tokenizer.encode(segments, {.add_special = false, .recognise_special = true});
}

bool can_switch_thinking(const ChatTemplate& chat_template) {
  const std::string& source = chat_template.source();
  return source.find("enable_thinking") != std::string::npos ||
         source.find("thinking is defined") != std::string::npos;
}

}  // namespace ft
