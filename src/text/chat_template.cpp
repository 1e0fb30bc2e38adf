// Chat templates: where a model keeps them, what they are given, and the limits around them.
#include "text/chat_template.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/file_map.h"
#include "text/jinja/eval.h"
#include "text/jinja/parser.h"
#include "text/jinja/value.h"
#include "text/tokenizer_config.h"
#include "text/utf8.h"

namespace ft {

namespace {

using jinja::Dict;
using jinja::List;
using jinja::Origin;
using jinja::Run;
using jinja::Text;
using jinja::Value;

constexpr uint64_t kMaxTemplateBytes = 1 << 20;

/// One template of a model; it may have another for conversations with tools.
struct Parsed {
  std::string where;
  std::string source;
  jinja::Body body;
};

Parsed parse_source(std::string source, std::string where) {
  if (source.size() > kMaxTemplateBytes) {
    bad_input("{}: a chat template of {} bytes; the limit is {}", where, source.size(),
              kMaxTemplateBytes);
  }
  if (auto invalid = find_invalid_utf8(source)) {
    bad_input("{}: not valid UTF-8 at byte {}", where, *invalid);
  }
  jinja::Body body = jinja::parse_template(source, where);
  return {std::move(where), std::move(source), std::move(body)};
}

// Templates write '<|' + role + '|>' and mean a special token. A role is chosen by the program, not
// by who writes the content, so a role that is one plain word counts as the template's own text.
bool is_plain_word(std::string_view role) {
  constexpr size_t kMaxBytes = 32;
  return !role.empty() && role.size() <= kMaxBytes &&
         std::all_of(role.begin(), role.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
         });
}

Value with_trusted_role(Run& run, const Value& message) {
  const Value* role = message.dict() ? message.dict()->find(run, "role") : nullptr;
  if (!role || !role->text() || !is_plain_word(role->text()->bytes())) return message;
  Dict* copy = run.make<Dict>();
  for (const auto& [key, value] : message.dict()->entries()) copy->set(run, key, value);
  copy->set(run, jinja::made(run, "role", Origin::kContent),
            jinja::made(run, role->text()->bytes()));
  return static_cast<const Dict*>(copy);
}

Value read_messages(Run& run, const std::string& json) {
  Value messages = jinja::parse_json(run, json, "messages");
  if (!messages.list()) bad_input("messages: a list is expected");
  std::vector<Value> items;
  for (const Value& message : messages.list()->items) {
    items.push_back(with_trusted_role(run, message));
  }
  return jinja::make_list(run, std::move(items));
}

Value read_tools(Run& run, const std::string& json) {
  if (json.empty()) return jinja::None{};
  Value tools = jinja::parse_json(run, json, "tools");
  if (!tools.list()) bad_input("tools: a list is expected");
  return tools;
}

Value token_value(Run& run, const TokenizerConfig::NamedToken& token) {
  std::vector<Value> items;
  for (const std::string& spelling : token.spellings) {
    items.push_back(jinja::made(run, spelling));
  }
  return token.is_list ? jinja::make_list(run, std::move(items)) : items.front();
}

std::vector<Segment> to_segments(const Text& text) {
  std::vector<Segment> segments;
  size_t begin = 0;
  for (const Text::Part& part : text.parts()) {
    segments.push_back({std::string(text.bytes().substr(begin, part.end - begin)),
                        part.origin == Origin::kTemplate});
    begin = part.end;
  }
  return segments;
}

}  // namespace

struct ChatTemplate::Parts {
  Parsed standard;
  std::optional<Parsed> with_tools;
  std::vector<TokenizerConfig::NamedToken> tokens;
};

ChatTemplate::ChatTemplate(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;
ChatTemplate::~ChatTemplate() = default;

ChatTemplate ChatTemplate::parse(std::string_view source, std::string_view where) {
  Parsed parsed = parse_source(std::string(source), std::string(where));
  return ChatTemplate(std::make_unique<Parts>(Parts{std::move(parsed), std::nullopt, {}}));
}

std::optional<ChatTemplate> ChatTemplate::load(const std::filesystem::path& folder) {
  TokenizerConfig config = read_tokenizer_config(folder);
  std::string where = (folder / "tokenizer_config.json").string();
  const std::filesystem::path file = folder / "chat_template.jinja";
  if (std::optional<std::string> source = read_text_file_if_present(file, kMaxTemplateBytes)) {
    config.chat_template = std::move(source);
    config.chat_template_of_tools.reset();
    where = file.string();
  }
  if (!config.chat_template) config.chat_template.swap(config.chat_template_of_tools);
  if (!config.chat_template) return std::nullopt;
  Parts parts{parse_source(std::move(*config.chat_template), where), std::nullopt,
              std::move(config.tokens)};
  if (config.chat_template_of_tools) {
    parts.with_tools =
        parse_source(std::move(*config.chat_template_of_tools), where + " (tool_use)");
  }
  return ChatTemplate(std::make_unique<Parts>(std::move(parts)));
}

std::vector<Segment> ChatTemplate::render(const Input& input) const {
  bool takes_tools = !input.tools_json.empty() && parts_->with_tools;
  const Parsed& parsed = takes_tools ? *parts_->with_tools : parts_->standard;
  Run run(parsed.where);
  Dict variables;
  auto set = [&](std::string_view name, Value value) {
    variables.set(run, jinja::made(run, name), std::move(value));
  };
  set("documents", jinja::None{});
  for (const TokenizerConfig::NamedToken& token : parts_->tokens)
    set(token.name, token_value(run, token));
  if (!input.variables_json.empty()) {
    Value more = jinja::parse_json(run, input.variables_json, "template variables");
    if (!more.dict()) bad_input("template variables: an object is expected");
    for (const auto& [key, value] : more.dict()->entries()) set(key.text()->bytes(), value);
  }
  for (const char* name : {"messages", "tools", "add_generation_prompt"}) {
    if (variables.find(run, name))
      bad_input("template variables: '{}' is given in another way", name);
  }
  set("messages", read_messages(run, input.messages_json));
  set("tools", read_tools(run, input.tools_json));
  set("add_generation_prompt", input.add_generation_prompt);
  run.forget_charges();
  jinja::Evaluator evaluator(run, variables);
  return to_segments(*evaluator.render(parsed.body));
}

const std::string& ChatTemplate::source() const {
  return parts_->standard.source;
}

}  // namespace ft
