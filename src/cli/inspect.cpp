// `ft inspect`: what a model is and needs, and what this machine has.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "base/units.h"
#include "cli/chat_text.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/model_options.h"
#include "cli/options.h"
#include "cli/report_json.h"
#include "ft/engine.h"

namespace ft {
namespace {

constexpr const char* kCommand = "ft inspect";

/// The text side of a folder, of which any part may be missing or of a kind that is not known here:
/// whoever ports a model wants to see the rest.
struct TextSide {
  std::optional<Tokenizer> tokenizer;
  std::optional<ChatTemplate> chat_template;
  std::vector<int32_t> stop_tokens;  // known with a tokenizer only
  std::vector<std::string> errors;
};

TextSide read_text_side(const std::string& folder) {
  TextSide text;
  const auto attempt = [&](auto&& read) {
    try {
      read();
    } catch (const Error& error) {
      text.errors.emplace_back(error.what());
    }
  };
  attempt([&] { text.tokenizer = load_tokenizer_if_present(folder); });
  attempt([&] { text.chat_template = ChatTemplate::load(folder); });
  if (!text.tokenizer) return text;
  attempt([&] { text.stop_tokens = read_model_defaults(folder, *text.tokenizer).stop_tokens; });
  return text;
}

/// Two columns: a name and what it is.
class Table {
 public:
  void heading(const std::string& text) {
    text_ += fmt::format("{}{}\n", text_.empty() ? "" : "\n", text);
  }
  void row(const std::string& name, const std::string& value) {
    text_ += fmt::format("  {:<22} {}\n", name, value);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// A parameter count as people say it: "30.5 billion".
std::string format_params(uint64_t n) {
  const double value = static_cast<double>(n);
  if (value < 1e6) return format_count(static_cast<int64_t>(n));
  return value < 1e9 ? fmt::format("{:.3g} million", value / 1e6)
                     : fmt::format("{:.3g} billion", value / 1e9);
}

std::string list_tokens(const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  constexpr size_t kMostShown = 24;
  std::string text;
  for (size_t i = 0; i < ids.size() && i < kMostShown; ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", ids[i], printable(tokenizer.piece(ids[i])));
  }
  if (ids.size() > kMostShown) text += fmt::format(", and {} more", ids.size() - kMostShown);
  return ids.empty() ? "none" : text;
}

void add_model(const ModelReport& model, Table& table) {
  table.heading("Model");
  table.row("folder", model.path);
  if (model.is_dummy) table.row("weights", "made up (--load-format dummy)");
  table.row("architecture", model.architecture);
  table.row("parameters",
            fmt::format("{}, of which {} active for a token", format_params(model.n_params),
                        format_params(model.n_active_params)));
  table.row("layers",
            fmt::format("{}, of which {} with experts", model.n_layers, model.n_moe_layers));
  table.row("experts", fmt::format("{} in a layer, {} active, {} shared; {} wide", model.n_experts,
                                   model.n_active, model.n_shared_experts, model.d_expert));
  table.row("expert format", model.experts_format);
  table.row("width", format_count(model.d_model));
  table.row("attention", model.attention);
  table.row("vocabulary", format_count(model.n_vocab));
  table.row("context",
            fmt::format("{} tokens, of which a session takes {}", format_count(model.n_context),
                        format_count(model.n_session_context)));
  for (const FormatReport& format : model.formats) {
    table.row("weights in " + format.name,
              fmt::format("{} ({})", format_bytes(format.n_bytes), format.used_for));
  }
}

void add_sizes(const ModelReport& model, Table& table) {
  table.heading("Sizes");
  table.row("all tensors", format_bytes(model.file_bytes));
  table.row("one expert", format_bytes(model.expert_bytes));
  table.row("all experts", format_bytes(model.bank_bytes));
  table.row("the rest", format_bytes(model.dense_bytes));
  table.row("a decode step reads", format_bytes(model.step_bytes));
  table.row("keys and values", format_bytes(model.kv_bytes_per_token) + " for a token");
  table.row("host memory needed", format_bytes(model.host_bytes));
  table.row("on a card",
            fmt::format("{} at least, {} for everything", format_bytes(model.device_min_bytes),
                        format_bytes(model.device_all_bytes)));
}

void add_text(const TextSide& text, Table& table) {
  table.heading("Text");
  table.row("tokenizer", text.tokenizer ? text.tokenizer->description() : "none");
  table.row("chat template", text.chat_template ? "yes" : "no");
  for (const std::string& error : text.errors) table.row("error", printable(error, kWholeText));
  if (!text.tokenizer) return;
  table.row("special tokens", list_tokens(*text.tokenizer, text.tokenizer->special_ids()));
  table.row("stop tokens", list_tokens(*text.tokenizer, text.stop_tokens));
}

void add_machine(const MachineReport& machine, Table& table) {
  table.heading("Machine");
  table.row("CPU", machine.cpu_name);
  std::string cpus = fmt::format("{} of {} ({} physical cores)", machine.n_cpus_allowed,
                                 machine.n_cpus_online, machine.n_cores_allowed);
  if (!machine.cpu_limit.empty()) cpus += fmt::format(", limited by {}", machine.cpu_limit);
  table.row("CPUs allowed", cpus);
  table.row("NUMA nodes", machine.n_numa_nodes > 1
                              ? fmt::format("{}, experts are spread over those of the threads",
                                            machine.n_numa_nodes)
                              : "1");
  table.row("instruction set",
            fmt::format("{} (possible: {})", machine.isa, fmt::join(machine.isas, ", ")));
  table.row("memory", fmt::format("{}, of which {} available", format_bytes(machine.memory_bytes),
                                  format_bytes(machine.memory_available_bytes)));
  if (machine.gpus.empty()) {
    table.row("graphics card", fmt::format("none: {}", printable(machine.why_no_gpu)));
  }
  for (const GpuReport& gpu : machine.gpus) {
    table.row("graphics card",
              fmt::format("{}, {}, compute capability {}, {}", gpu.name,
                          format_bytes(gpu.memory_bytes), gpu.compute_capability, gpu.uuid));
  }
}

using Json = nlohmann::ordered_json;

Json json_of(const TextSide& text) {
  if (!text.tokenizer) {
    return {{"tokenizer", nullptr},
            {"n_vocab", nullptr},
            {"has_chat_template", text.chat_template.has_value()},
            {"special_tokens", nullptr},
            {"stop_tokens", nullptr},
            {"errors", text.errors}};
  }
  const auto tokens_of = [&](const std::vector<int32_t>& ids) {
    Json tokens = Json::array();
    for (const int32_t id : ids) {
      tokens.push_back({{"id", id}, {"piece", text.tokenizer->piece(id)}});
    }
    return tokens;
  };
  return {{"tokenizer", text.tokenizer->description()},
          {"n_vocab", text.tokenizer->n_vocab()},
          {"has_chat_template", text.chat_template.has_value()},
          {"special_tokens", tokens_of(text.tokenizer->special_ids())},
          {"stop_tokens", tokens_of(text.stop_tokens)},
          {"errors", text.errors}};
}

}  // namespace

int run_inspect(std::span<const std::string> arguments) {
  ModelOptions model_options;
  std::vector<std::string> folders;
  bool is_json = false;
  Options options(kCommand, "Says what a model is, what it needs, and what this machine has.");
  options.words("MODEL", folders, "Folder of the model (default: the shipped demo model)");
  model_options.add_sizes_to(options);
  options.group("Output");
  options.flag("--json", is_json, "All fields as one JSON object; sizes in bytes");
  options.excludes("MODEL", "--model");
  if (!options.parse(arguments)) return 0;
  if (folders.size() > 1) throw UsageError(kCommand, "one model at a time");
  if (!folders.empty() && folders.front().empty()) {
    throw UsageError(kCommand, "MODEL: the text is empty");
  }
  if (!folders.empty()) model_options.model_dir = folders.front();

  const EngineOptions engine_options = model_options.resolve(kCommand);
  const ModelReport model = inspect_model(engine_options);
  const MachineReport machine = inspect_machine(engine_options.isa);
  const TextSide text = model.is_dummy ? TextSide{} : read_text_side(engine_options.model_dir);
  if (text.tokenizer) print_notes(*text.tokenizer);
  if (is_json) {
    const Json json{{"model", Json::parse(report_json(model))},
                    {"text", json_of(text)},
                    {"machine", Json::parse(report_json(machine))}};
    print(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
    return 0;
  }
  Table table;
  add_model(model, table);
  add_sizes(model, table);
  add_text(text, table);
  add_machine(machine, table);
  print(table.text());
  return 0;
}

}  // namespace ft
