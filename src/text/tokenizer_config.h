// tokenizer_config.json: the tokens that a model gives a meaning by name, and
// its chat templates.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ft {

struct TokenizerConfig {
  /// bos_token and the like: a spelling, or a list of them
  /// (additional_special_tokens).
  struct NamedToken {
    std::string name;
    std::vector<std::string> spellings;
    bool is_list = false;
  };
  std::vector<NamedToken> tokens;  // none without a spelling

  std::optional<std::string> chat_template;           // for all conversations, or
  std::optional<std::string> chat_template_of_tools;  // for those with tools, where they differ

  /// The spelling of a token that is no list.
  std::optional<std::string> spelling_of(std::string_view name) const;
};

/// Of `folder`; empty if it has no such file. Tokens are strings or objects
/// with `content`; chat_template is a string or a list of {name, template}, of
/// which "default" and "tool_use" count. Errors: kIo; kBadInput with the file
/// and the key for what is malformed.
TokenizerConfig read_tokenizer_config(const std::filesystem::path& folder);

}  // namespace ft
