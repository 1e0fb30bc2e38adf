// The text side of a model's folder, tokenizer, template and defaults, and conversations to tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "text/chat_template.h"
#include "text/model_defaults.h"
#include "text/tokenizer.h"

namespace ft {

struct Message {
  std::string role;     // "system", "user", "assistant"
  std::string content;  // valid UTF-8
};

struct ChatText {
  std::string folder;
  Tokenizer tokenizer;
  std::optional<ChatTemplate> chat_template;
  ModelDefaults defaults;
};

/// The tokenizer of a folder that has one: fixtures of those who port models often have none, and
/// then ids have no spelling. Errors: as Tokenizer::load.
std::optional<Tokenizer> load_tokenizer_if_present(const std::string& folder);

/// Small files, to be read before the weights, so that a mistake in them or in the options shows at
/// once. Errors: those of each part.
ChatText load_chat_text(const std::string& folder);

/// What the tokenizer's file says and the tokenizer had to read otherwise, on standard error.
void print_notes(const Tokenizer& tokenizer);

/// The tokens of a conversation, ready for the reply. `is_thinking` sets what templates call
/// enable_thinking or thinking. Errors: as ChatTemplate::render and Tokenizer::encode.
std::vector<int32_t> encode_chat(const ChatTemplate& chat_template, const Tokenizer& tokenizer,
                                 std::span<const Message> messages,
                                 std::optional<bool> is_thinking);

/// Whether the template has a switch for thinking.
bool can_switch_thinking(const ChatTemplate& chat_template);

}  // namespace ft
