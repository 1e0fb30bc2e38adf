// `ft bench decode`: tokens a second of a prompt and of the steps behind it, beside what the speed of
// memory allows.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/units.h"
#include "cli/bench_prompt.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/model_options.h"
#include "cli/options.h"
#include "cli/report_json.h"
#include "ft/engine.h"

namespace ft {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kCommand = "ft bench decode";
constexpr const char* kAbout =
    "Measures prefill and decode with a prompt of random ids and greedy steps that no token ends. "
    "Each repetition begins with an empty context and a measurement of how fast this machine reads "
    "memory. The bound of a step is the bytes that it reads over that speed: all dense weights "
    "except the embedding's table, the active experts, and the keys and values that its attention "
    "sees (a sliding window only as far as it reaches). Figures are medians. Without --context "
    "there "
    "is room for prompt and steps.";

struct Choice {
  std::string_view name;
  std::string_view help;
};
constexpr Choice kStrategies[] = {{"cpu", "the host computes every expert"}};
constexpr Choice kDevices[] = {{"host", "the CPU and its memory"}};

std::string list_of(std::span<const Choice> choices) {
  std::string text;
  for (const Choice& row : choices) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", row.name, row.help);
  }
  return text;
}

/// Errors: UsageError with the names that there are.
std::string_view find_choice(const std::string& option, std::span<const Choice> choices,
                             std::string_view name) {
  for (const Choice& row : choices) {
    if (row.name == name) return row.name;
  }
  throw UsageError(kCommand,
                   fmt::format("{}: unknown '{}'; there is: {}", option, name, list_of(choices)));
}

/// Names apart by commas. Errors: UsageError for one that is unknown or there twice.
std::vector<std::string_view> find_choices(const std::string& option,
                                           std::span<const Choice> choices,
                                           std::string_view names) {
  std::vector<std::string_view> found;
  for (size_t begin = 0; begin <= names.size();) {
    const size_t end = std::min(names.find(',', begin), names.size());
    const auto name = find_choice(option, choices, names.substr(begin, end - begin));
    if (std::find(found.begin(), found.end(), name) != found.end()) {
      throw UsageError(kCommand, fmt::format("{}: '{}' is named twice", option, name));
    }
    found.push_back(name);
    begin = end + 1;
  }
  return found;
}

struct BenchOptions {
  std::optional<std::string> device;
  std::optional<std::string> strategies;
  std::optional<int64_t> n_tokens;
  std::optional<int64_t> n_prompt;
  std::optional<int64_t> n_repeat;
  std::optional<uint64_t> seed;
  bool is_json = false;
  ModelOptions model;

  bool parse(std::span<const std::string> arguments) {
    Options options(kCommand, kAbout);
    options.group("What is measured");
    options.value("--device", device, list_of(kDevices) + " (default: host)");
    options.value("--strategies", strategies,
                  "Apart by commas: " + list_of(kStrategies) + " (default: cpu)");
    options.value("--prompt", n_prompt, "Tokens of the prompt (default: 512)", {1, 1e7});
    options.value("--tokens", n_tokens, "Decode steps behind it (default: 64)", {1, 1e7});
    options.value("--repeat", n_repeat,
                  "Repetitions, in turn where there are several strategies "
                  "(default: 3)",
                  {1, 1000});
    options.value("--seed", seed, "Of the prompt's ids (default: 0)");
    options.group("Output");
    options.flag("--json", is_json,
                 "One JSON object: machine, model, and for each strategy a member of runs");
    model.add_to(options);
    return options.parse(arguments);
  }
};

/// One prompt and its steps.
struct Repetition {
  double prefill_tokens_per_s = 0;
  double tokens_per_s = 0;
  double read_gbps = 0;       // 0: could not be measured
  double share_of_bound = 0;  // time that reading would take / time it took
};

struct Run {
  std::string_view strategy;
  std::string_view device;
  int64_t n_prompt = 0;
  int64_t n_tokens = 0;
  int64_t n_threads = 0;
  uint64_t step_weight_bytes = 0;
  uint64_t step_kv_bytes = 0;  // on average over the steps
  ReadRate read_rate;          // the first, or the last for which memory was short
  std::vector<Repetition> repetitions;

  uint64_t step_bytes() const { return step_weight_bytes + step_kv_bytes; }
};

struct Spread {
  double min = 0;
  double median = 0;
  double max = 0;
};

Spread spread_of(const Run& run, double Repetition::*figure) {
  std::vector<double> values;
  for (const Repetition& row : run.repetitions) values.push_back(row.*figure);
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return {values.front(), (values[(n - 1) / 2] + values[n / 2]) / 2, values.back()};
}

struct Figure {
  const char* name;
  double Repetition::*value;
};
constexpr Figure kFigures[] = {{"tokens_per_s", &Repetition::tokens_per_s},
                               {"prefill_tokens_per_s", &Repetition::prefill_tokens_per_s},
                               {"share_of_bound", &Repetition::share_of_bound},
                               {"read_gbps", &Repetition::read_gbps}};

Reply generate(Session& session, std::vector<int32_t> prompt, int64_t n_steps) {
  session.reset();
  // The first token of a reply costs no step of its own.
  const Request request{
      .tokens = std::move(prompt), .sampling = {}, .max_tokens = n_steps + 1, .stop_tokens = {}};
  return session.generate(request, [](int32_t) { return true; });
}

void repeat_once(Engine& engine, Session& session, const std::vector<int32_t>& prompt, Run& run) {
  Repetition row;
  const ReadRate read_rate = engine.measure_read_rate();
  row.read_gbps = read_rate.gbps;
  if (run.read_rate.probe_bytes == 0 || read_rate.is_short) run.read_rate = read_rate;
  const Reply reply = generate(session, prompt, run.n_tokens);
  const auto n_steps = static_cast<uint64_t>(reply.n_decode);
  run.step_weight_bytes = reply.decode_bytes / n_steps;
  run.step_kv_bytes = (reply.decode_kv_bytes + n_steps / 2) / n_steps;
  row.prefill_tokens_per_s = static_cast<double>(reply.n_prompt) / reply.prefill_seconds;
  row.tokens_per_s = static_cast<double>(n_steps) / reply.decode_seconds;
  if (row.read_gbps > 0) {
    const double bound_seconds = static_cast<double>(run.step_bytes()) / (row.read_gbps * 1e9);
    row.share_of_bound = bound_seconds * row.tokens_per_s;
  }
  run.repetitions.push_back(row);
}

/// null for what could not be measured.
Json measured(double value) {
  return value > 0 ? Json(value) : Json(nullptr);
}

Json json_of(const Run& run) {
  Json json{{"strategy", run.strategy},   {"device", run.device},
            {"n_prompt", run.n_prompt},   {"n_tokens", run.n_tokens},
            {"n_threads", run.n_threads}, {"n_repeat", run.repetitions.size()}};
  Json spreads = Json::object();
  for (const Figure& figure : kFigures) {
    const Spread spread = spread_of(run, figure.value);
    json[figure.name] = measured(spread.median);
    spreads[figure.name] = {{"min", measured(spread.min)},
                            {"median", measured(spread.median)},
                            {"max", measured(spread.max)}};
  }
  json["step_bytes"] = run.step_bytes();
  json["step_weight_bytes"] = run.step_weight_bytes;
  json["step_kv_bytes"] = run.step_kv_bytes;
  json["read_probe_bytes"] = run.read_rate.probe_bytes;
  json["cache_bytes"] = run.read_rate.cache_bytes;
  json["spread"] = std::move(spreads);
  for (const Repetition& row : run.repetitions) {
    Json figures = Json::object();
    for (const Figure& figure : kFigures) figures[figure.name] = measured(row.*figure.value);
    json["repetitions"].push_back(std::move(figures));
  }
  return json;
}

std::string table_of(const std::vector<Run>& runs) {
  std::string text = fmt::format("{:<9} {:<7} {:>7} {:>7} {:>11} {:>10} {:>17} {:>9} {:>9} {:>8}\n",
                                 "strategy", "device", "prompt", "tokens", "prefill t/s",
                                 "decode t/s", "least to most", "read GB/s", "step", "of bound");
  for (const Run& run : runs) {
    const Spread decode = spread_of(run, &Repetition::tokens_per_s);
    const double read_gbps = spread_of(run, &Repetition::read_gbps).median;
    const double share = spread_of(run, &Repetition::share_of_bound).median;
    text += fmt::format("{:<9} {:<7} {:>7} {:>7} {:>11.1f} {:>10.2f} {:>17} {:>9} {:>9} {:>8}\n",
                        run.strategy, run.device, run.n_prompt, run.n_tokens,
                        spread_of(run, &Repetition::prefill_tokens_per_s).median, decode.median,
                        fmt::format("{:.2f} to {:.2f}", decode.min, decode.max),
                        read_gbps > 0 ? fmt::format("{:.1f}", read_gbps) : "unknown",
                        format_bytes(run.step_bytes()),
                        share > 0 ? fmt::format("{:.1f} %", share * 100) : "-");
  }
  return text;
}

/// "" where nothing can be said of pages.
std::string bank_line(const ModelReport& model) {
  if (!model.bank_huge_page_share) return "";
  return fmt::format("experts: {}, {:.0f} % of it in huge pages\n", format_bytes(model.bank_bytes),
                     *model.bank_huge_page_share * 100);
}

/// "" where the rate is what it seems.
std::string probe_line(const ReadRate& rate) {
  if (!rate.is_short) return "";
  return fmt::format(
      "memory was short: the rate is of {}, which is little beside {} of caches, and flattered\n",
      format_bytes(rate.probe_bytes), format_bytes(rate.cache_bytes));
}

void report_progress(const Run& run, size_t n_repeat) {
  const Repetition& row = run.repetitions.back();
  print_line(fmt::format(
      "{}, {} of {}: prefill {:.1f} tokens/s, decode {:.2f} tokens/s, memory {:.1f} GB/s",
      run.strategy, run.repetitions.size(), n_repeat, row.prefill_tokens_per_s, row.tokens_per_s,
      row.read_gbps));
}

/// The last id that is run stands at this position.
void check_context(const ModelReport& model, int64_t n_prompt, int64_t n_tokens) {
  if (n_prompt + n_tokens <= model.n_session_context) return;
  bad_input("--prompt {} and --tokens {} need a context of {}, --context gives {}", n_prompt,
            n_tokens, n_prompt + n_tokens, model.n_session_context);
}

}  // namespace

int run_bench_decode(std::span<const std::string> arguments) {
  BenchOptions options;
  if (!options.parse(arguments)) return 0;
  const auto device = find_choice("--device", kDevices, options.device.value_or("host"));
  const std::string names = options.strategies.value_or("cpu");
  const int64_t n_prompt = options.n_prompt.value_or(512);
  const int64_t n_tokens = options.n_tokens.value_or(64);
  EngineOptions engine_options = options.model.resolve(kCommand);
  const MachineReport machine = inspect_machine(engine_options.isa);
  std::vector<Run> runs;
  for (const std::string_view strategy : find_choices("--strategies", kStrategies, names)) {
    runs.push_back({.strategy = strategy,
                    .device = device,
                    .n_prompt = n_prompt,
                    .n_tokens = n_tokens,
                    .n_threads = options.model.n_threads.value_or(machine.n_cores_allowed),
                    .read_rate = {},
                    .repetitions = {}});
  }
  if (engine_options.n_context == 0) engine_options.n_context = n_prompt + n_tokens;
  engine_options.on_model = [&](const ModelReport& model) {
    check_context(model, n_prompt, n_tokens);
  };
  const auto engine = load_engine(std::move(engine_options), options.model.is_quiet);
  const auto session = engine->open_session();
  const auto prompt = random_ids(options.seed.value_or(0), n_prompt, engine->model().n_vocab);

  // The first step pays for pages that nobody has touched yet.
  const auto n_first = static_cast<ptrdiff_t>(std::min<int64_t>(n_prompt, 16));
  generate(*session, {prompt.begin(), prompt.begin() + n_first}, 1);
  const auto n_repeat = static_cast<size_t>(options.n_repeat.value_or(3));
  for (size_t i = 0; i < n_repeat; ++i) {
    for (Run& run : runs) {
      repeat_once(*engine, *session, prompt, run);
      if (!options.model.is_quiet) report_progress(run, n_repeat);
    }
  }
  if (!options.is_json) {
    print(table_of(runs) + bank_line(engine->model()));
    for (const Run& run : runs) print(probe_line(run.read_rate));
    return 0;
  }
  Json json{{"machine", Json::parse(report_json(machine))},
            {"model", Json::parse(report_json(engine->model()))},
            {"runs", Json::array()}};
  for (const Run& run : runs) json["runs"].push_back(json_of(run));
  print(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  return 0;
}

}  // namespace ft
