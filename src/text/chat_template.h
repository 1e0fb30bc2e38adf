// Messages to prompt text, by the Jinja template that a model ships.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/segment.h"

namespace ft {

class ChatTemplate {
 public:
  /// `chat_template.jinja`, else `chat_template` of tokenizer_config.json (a string, or a list of
  /// {name, template} of which "default", or "tool_use" where tools are given, is taken); nothing
  /// if a folder has neither. bos_token, eos_token and the like come from tokenizer_config.json,
  /// where each may be a string or an object with `content`.
  static std::optional<ChatTemplate> load(const std::filesystem::path& folder);

  /// Errors: kBadInput with line and column for a syntax error, kUnsupported for a construct
  /// outside the subset.
  static ChatTemplate parse(std::string_view source, std::string_view where);

  ChatTemplate(ChatTemplate&&) noexcept;
  ChatTemplate& operator=(ChatTemplate&&) noexcept;
  ~ChatTemplate();

  struct Input {
    std::string messages_json;   // a list of {role, content, ...}
    std::string tools_json;      // a list, or "" for none
    std::string variables_json;  // an object with more variables ("enable_thinking": false), or ""
    bool add_generation_prompt = true;
  };

  /// Errors: kBadInput for a raise_exception() of the template (with its text), for a value of the
  /// wrong type (with the line), and for a template that exceeds the limits on steps, depth or
  /// output size.
  std::vector<Segment> render(const Input& input) const;

  const std::string& source() const;

 private:
  struct Parts;
  explicit ChatTemplate(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace ft
