// Chat templates: where a model keeps them, what they are given, and the limits around them.
#include "text/chat_template.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/file_map.h"
#include "text/jinja_eval.h"
#include "text/jinja_parser.h"
#include "text/utf8.h"
#include "text/value.h"

namespace ft {

namespace {

using jinja::Dict;
using jinja::List;
using jinja::Origin;
using jinja::Run;
using jinja::Text;
using jinja::Value;

constexpr uint64_t kMaxTemplateBytes = 1 << 20;
constexpr uint64_t kMaxConfigBytes = 64 << 20;

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

/// A variable that the tokenizer's configuration gives to the template: bos_token and the like.
struct TokenVariable {
  std::string name;
  std::vector<std::string> texts;
  bool is_list = false;
};

// A token is written as a string or as an object with the string in `content`.
std::string token_text(const Value& value) {
  const Value* text = &value;
  if (value.dict()) text = value.dict()->find("content");
  return text && text->text() ? std::string(text->text()->bytes()) : "";
}

// Tokens without text are not passed on: templates ask whether they are defined.
void add_token(std::vector<TokenVariable>& variables, std::string_view name, const Value* value) {
  std::string text = value ? token_text(*value) : "";
  if (!text.empty()) variables.push_back({std::string(name), {std::move(text)}});
}

std::vector<TokenVariable> read_tokens(const Dict& config) {
  std::vector<TokenVariable> variables;
  constexpr std::array kNames = {"bos_token", "eos_token", "unk_token", "sep_token",
                                 "pad_token", "cls_token", "mask_token"};
  for (const char* name : kNames) add_token(variables, name, config.find(name));
  const Value* more = config.find("additional_special_tokens");
  if (more && more->list() && !more->list()->items.empty()) {
    TokenVariable list{"additional_special_tokens", {}, true};
    for (const Value& token : more->list()->items) list.texts.push_back(token_text(token));
    variables.push_back(std::move(list));
  }
  const Value* named = config.find("extra_special_tokens");
  if (named && named->dict()) {
    for (const auto& [key, value] : named->dict()->entries()) {
      add_token(variables, key.text()->bytes(), &value);
    }
  }
  return variables;
}

const Dict& parse_config(Run& run, const std::string& json, const std::string& where) {
  Value config = jinja::parse_json(run, json, where);
  if (!config.dict()) bad_input("{}: an object is expected", where);
  return *config.dict();
}

/// The templates of a tokenizer_config.json: a string, or a list of {name, template}.
struct ConfigTemplates {
  std::optional<std::string> standard;
  std::optional<std::string> with_tools;
};

ConfigTemplates read_templates(const Dict& config, const std::string& where) {
  const Value* given = config.find("chat_template");
  if (!given || given->is_none()) return {};
  if (given->text()) return {std::string(given->text()->bytes()), std::nullopt};
  if (!given->list()) bad_input("{}: chat_template is neither a string nor a list", where);
  ConfigTemplates templates;
  for (const Value& item : given->list()->items) {
    const Value* name = item.dict() ? item.dict()->find("name") : nullptr;
    const Value* text = item.dict() ? item.dict()->find("template") : nullptr;
    if (!name || !name->text() || !text || !text->text()) {
      bad_input("{}: an item of chat_template is not an object with name and template", where);
    }
    std::string_view which = name->text()->bytes();
    if (which == "default") templates.standard = text->text()->bytes();
    if (which == "tool_use") templates.with_tools = text->text()->bytes();
  }
  if (!templates.standard && !templates.with_tools) {
    bad_input("{}: chat_template has neither 'default' nor 'tool_use'", where);
  }
  return templates;
}

Value text_value(Run& run, std::string_view bytes, Origin origin) {
  jinja::TextBuilder out(run);
  out.append(bytes, origin);
  return out.finish();
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
  const Value* role = message.dict() ? message.dict()->find("role") : nullptr;
  if (!role || !role->text() || !is_plain_word(role->text()->bytes())) return message;
  Dict* copy = run.make<Dict>();
  for (const auto& [key, value] : message.dict()->entries()) copy->set(key, value);
  copy->set(text_value(run, "role", Origin::kContent),
            text_value(run, role->text()->bytes(), Origin::kTemplate));
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

Value token_value(Run& run, const TokenVariable& variable) {
  if (!variable.is_list) return text_value(run, variable.texts.front(), Origin::kTemplate);
  std::vector<Value> items;
  for (const std::string& text : variable.texts) {
    items.push_back(text_value(run, text, Origin::kTemplate));
  }
  return jinja::make_list(run, std::move(items));
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
  std::vector<TokenVariable> tokens;
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
  std::filesystem::path file = folder / "chat_template.jinja";
  std::filesystem::path config_file = folder / "tokenizer_config.json";
  std::string where = config_file.string();
  ConfigTemplates templates;
  std::vector<TokenVariable> tokens;
  Run run(where);
  if (std::filesystem::exists(config_file)) {
    const Dict& config = parse_config(run, read_text_file(config_file, kMaxConfigBytes), where);
    tokens = read_tokens(config);
    templates = read_templates(config, where);
  }
  if (std::filesystem::exists(file)) {
    templates = {read_text_file(file, kMaxTemplateBytes), std::nullopt};
    where = file.string();
  }
  if (!templates.standard) templates.standard = std::move(templates.with_tools);
  if (!templates.standard) return std::nullopt;
  auto parts = std::make_unique<Parts>(
      Parts{parse_source(std::move(*templates.standard), where), std::nullopt, std::move(tokens)});
  if (templates.with_tools) {
    parts->with_tools = parse_source(std::move(*templates.with_tools), where + " (tool_use)");
  }
  return ChatTemplate(std::move(parts));
}

std::vector<Segment> ChatTemplate::render(const Input& input) const {
  bool takes_tools = !input.tools_json.empty() && parts_->with_tools;
  const Parsed& parsed = takes_tools ? *parts_->with_tools : parts_->standard;
  Run run(parsed.where);
  Dict variables;
  auto set = [&](std::string_view name, Value value) {
    variables.set(text_value(run, name, Origin::kTemplate), std::move(value));
  };
  set("documents", jinja::None{});
  for (const TokenVariable& token : parts_->tokens) set(token.name, token_value(run, token));
  if (!input.variables_json.empty()) {
    Value more = jinja::parse_json(run, input.variables_json, "template variables");
    if (!more.dict()) bad_input("template variables: an object is expected");
    for (const auto& [key, value] : more.dict()->entries()) set(key.text()->bytes(), value);
  }
  for (const char* name : {"messages", "tools", "add_generation_prompt"}) {
    if (variables.find(name)) bad_input("template variables: '{}' is given in another way", name);
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
