// Tokens without a spelling are not passed on: templates ask whether they are
// defined.
#include "text/tokenizer_config.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_text.h"

namespace ft {
namespace {

using Json = nlohmann::json;

class Reader {
 public:
  explicit Reader(const std::filesystem::path& file)
      : where_(file.string()), root_(read_json_object<Json>(file)) {}

  TokenizerConfig read() {
    for (const char* key : {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token",
                            "cls_token", "mask_token"}) {
      if (const Json* token = find(key)) add_token(key, *token);
    }
    if (const Json* list = find("additional_special_tokens")) add_token_list(*list);
    if (const Json* named = find("extra_special_tokens"); named && named->is_object()) {
      for (const auto& [key, token] : named->items()) add_token(key, token);
    }
    if (const Json* given = find("chat_template")) read_templates(*given);
    return std::move(config_);
  }

 private:
  const Json* find(const char* key) const { return find_value(root_, key); }

  std::string spelling(const std::string& key, const Json& token) const {
    if (token.is_string()) return token.get<std::string>();
    const auto content = token.find("content");
    if (content == token.end() || !content->is_string()) {
      bad_input("{}: {} is neither a string nor an object with content", where_, key);
    }
    return content->get<std::string>();
  }

  void add_token(const std::string& key, const Json& token) {
    std::string text = spelling(key, token);
    if (!text.empty()) config_.tokens.push_back({key, {std::move(text)}});
  }

  void add_token_list(const Json& list) {
    const std::string key = "additional_special_tokens";
    if (!list.is_array()) bad_input("{}: {} is not a list", where_, key);
    TokenizerConfig::NamedToken tokens{key, {}, true};
    for (const Json& token : list) tokens.spellings.push_back(spelling(key, token));
    if (!tokens.spellings.empty()) config_.tokens.push_back(std::move(tokens));
  }

  void read_templates(const Json& given) {
    if (given.is_string()) {
      config_.chat_template = given.get<std::string>();
      return;
    }
    if (!given.is_array()) {
      bad_input("{}: chat_template is neither a string nor a list", where_);
    }
    for (const Json& item : given) add_template(item);
    if (!config_.chat_template && !config_.chat_template_of_tools) {
      bad_input("{}: chat_template has neither 'default' nor 'tool_use'", where_);
    }
  }

  void add_template(const Json& item) {
    const auto name = item.find("name");
    const auto text = item.find("template");
    if (name == item.end() || !name->is_string() || text == item.end() || !text->is_string()) {
      bad_input("{}: an item of chat_template is not an object with name and template", where_);
    }
    if (*name == "default") config_.chat_template = text->get<std::string>();
    if (*name == "tool_use") config_.chat_template_of_tools = text->get<std::string>();
  }

  std::string where_;
  Json root_;
  TokenizerConfig config_;
};

}  // namespace

std::optional<std::string> TokenizerConfig::spelling_of(std::string_view name) const {
  for (const NamedToken& token : tokens) {
    if (token.name == name && !token.is_list) return token.spellings.front();
  }
  return std::nullopt;
}

TokenizerConfig read_tokenizer_config(const std::filesystem::path& folder) {
  return Reader(folder / "tokenizer_config.json").read();
}

}  // namespace ft
