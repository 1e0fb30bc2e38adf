// `ft bench start`: how long it takes from nothing to the first token, part by part.
#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/page_cache.h"
#include "base/system_files.h"
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

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kCommand = "ft bench start";
constexpr const char* kAbout =
    "Measures one load, one short prompt of random ids and the first token, part by part, and the "
    "memory that was taken at most. What a part had to read is set beside its time. The prompt "
    "pays for the first touch of dense weights, which stay in their file; run again, it shows how "
    "much that was.";

struct StartOptions {
  std::optional<int64_t> n_prompt;
  std::optional<uint64_t> seed;
  bool is_cold = false;
  bool is_json = false;
  ModelOptions model;

  bool parse(std::span<const std::string> arguments) {
    Options options(kCommand, kAbout);
    options.group("What is measured");
    options.flag("--cold", is_cold,
                 "Drop the model's files from the page cache first: they come from the disk");
    options.value("--prompt", n_prompt, "Tokens of the prompt (default: 16)", {1, 1e7});
    options.value("--seed", seed, "Of the prompt's ids (default: 0)");
    options.group("Output");
    options.flag("--json", is_json, "One JSON object: machine, model, start");
    model.add_to(options);
    if (!options.parse(arguments)) return false;
    if (is_cold && model.is_dummy()) {
      throw UsageError(kCommand,
                       "--cold has no effect on --load-format dummy, which reads no files");
    }
    return true;
  }
};

/// The files of a model's folder that take a load its time, and how much of them is in memory.
struct Files {
  uint64_t n_bytes = 0;
  std::optional<uint64_t> n_cached_bytes =
      0;  // nothing where the kernel tells of one only its owner

  std::optional<double> cached_percent() const {
    if (!n_cached_bytes || n_bytes == 0) return {};
    return static_cast<double>(*n_cached_bytes) / static_cast<double>(n_bytes) * 100;
  }
  std::string cached_share() const {
    const std::optional<double> percent = cached_percent();
    return percent ? fmt::format("{:.1f} %", *percent)
                   : "unknown (of others' files the kernel does not tell)";
  }
};

bool is_read_by_a_load(const fs::path& file) {
  constexpr std::array<std::string_view, 3> kNames = {"config.json", "model.safetensors.index.json",
                                                      "tokenizer.json"};
  return file.extension() == ".safetensors" ||
         std::find(kNames.begin(), kNames.end(), file.filename().string()) != kNames.end();
}

Files files_in(const fs::path& folder, bool is_cold) {
  Files files;
  std::error_code error;  // what is wrong with a folder is the load's to tell
  for (auto file = fs::directory_iterator(folder, error); !error && file != fs::end(file);
       file.increment(error)) {
    std::error_code none;
    if (!is_read_by_a_load(file->path()) || !file->is_regular_file(none)) continue;
    if (!std::ifstream(file->path()).is_open()) continue;  // if a load needs it, that will tell
    if (is_cold) drop_from_cache(file->path());
    const uint64_t n_bytes = file->file_size(none);
    if (none) continue;
    files.n_bytes += n_bytes;
    const std::optional<uint64_t> cached = cached_bytes(file->path());
    files.n_cached_bytes = cached && files.n_cached_bytes
                               ? std::optional(*files.n_cached_bytes + *cached)
                               : std::nullopt;
  }
  return files;
}

/// Some file systems keep their files in memory; others may be mapping these.
void check_cold(const Files& files) {
  constexpr double kMostPercent = 10;
  if (files.cached_percent().value_or(0) <= kMostPercent) return;
  fail(ErrorKind::kIo,
       "--cold: {:.0f} % of the model's files stay in the page cache; put the model on a disk, and "
       "end "
       "programs that have it open",
       *files.cached_percent());
}

struct Part {
  const char* name;
  const char* title;
  double seconds = 0;
  uint64_t n_bytes = 0;  // that it had to read; 0: not counted

  double gbps() const { return seconds > 0 ? static_cast<double>(n_bytes) / seconds / 1e9 : 0; }
};

/// Of this process, in bytes; 0 where the kernel does not say.
struct Resident {
  uint64_t peak = 0;
  uint64_t own = 0;     // now: banks, cache of keys and values, scratch
  uint64_t mapped = 0;  // now: of files, which the kernel may take back
};

Resident resident_now() {
  const std::string status = read_system_file("/proc/self/status").value_or("");
  const auto bytes = [&](const char* key) {
    return find_system_value(status, key).value_or(0) * 1024;
  };
  return {.peak = bytes("VmHWM:"), .own = bytes("RssAnon:"), .mapped = bytes("RssFile:")};
}

struct Start {
  Files files;
  int64_t n_prompt = 0;
  std::vector<Part> parts;
  double again_seconds = 0;  // the same prompt once more
  Resident resident;

  double seconds() const {
    double sum = 0;
    for (const Part& part : parts) sum += part.seconds;
    return sum;
  }
};

/// The prompt's seconds and those from its end to the first token.
std::pair<double, double> run_prompt(Session& session, const Request& request) {
  session.reset();
  std::chrono::duration<double> to_first{};
  const auto begin = std::chrono::steady_clock::now();
  const Reply reply = session.generate(request, [&](int32_t) {
    to_first = std::chrono::steady_clock::now() - begin;
    return false;
  });
  return {reply.prefill_seconds, std::max(to_first.count() - reply.prefill_seconds, 0.0)};
}

Json json_of(const Start& start, bool is_cold) {
  Json parts = Json::array();
  for (const Part& part : start.parts) {
    parts.push_back({{"name", part.name},
                     {"seconds", part.seconds},
                     {"n_bytes", part.n_bytes > 0 ? Json(part.n_bytes) : Json(nullptr)},
                     {"gbps", part.gbps() > 0 ? Json(part.gbps()) : Json(nullptr)},
                     {"share", part.seconds / start.seconds()}});
  }
  return {{"is_cold", is_cold},
          {"n_prompt", start.n_prompt},
          {"files_bytes", start.files.n_bytes},
          {"files_cached_bytes",
           start.files.n_cached_bytes ? Json(*start.files.n_cached_bytes) : Json(nullptr)},
          {"seconds", start.seconds()},
          {"parts", std::move(parts)},
          {"prompt_again_seconds", start.again_seconds},
          {"peak_rss_bytes", start.resident.peak},
          {"own_rss_bytes", start.resident.own},
          {"mapped_rss_bytes", start.resident.mapped}};
}

std::string table_of(const Start& start) {
  std::string text =
      fmt::format("{:<26} {:>10} {:>9} {:>8} {:>8}\n", "part", "ms", "read", "GB/s", "share");
  const auto row = [&](const char* title, double seconds, const Part* part) {
    const bool has_bytes = part != nullptr && part->n_bytes > 0;
    text += fmt::format("{:<26} {:>10.1f} {:>9} {:>8} {:>8}\n", title, seconds * 1e3,
                        has_bytes ? format_bytes(part->n_bytes) : "",
                        has_bytes ? fmt::format("{:.2f}", part->gbps()) : "",
                        fmt::format("{:.1f} %", seconds / start.seconds() * 100));
  };
  for (const Part& part : start.parts) row(part.title, part.seconds, &part);
  row("to the first token", start.seconds(), nullptr);
  row("the same prompt again", start.again_seconds, nullptr);
  const auto& [peak, own, mapped] = start.resident;
  text += fmt::format("memory: {} at most; now {} of its own, {} of mapped files\n",
                      format_bytes(peak), format_bytes(own), format_bytes(mapped));
  if (start.files.n_bytes > 0) {
    text += fmt::format("files: {}; in the page cache before: {}\n",
                        format_bytes(start.files.n_bytes), start.files.cached_share());
  }
  return text;
}

Start measure(const StartOptions& options, EngineOptions engine_options,
              std::unique_ptr<Engine>& engine) {
  Start start;
  start.n_prompt = options.n_prompt.value_or(16);
  if (!options.model.is_dummy()) {
    start.files = files_in(engine_options.model_dir, options.is_cold);
    if (options.is_cold) check_cold(start.files);
  }
  engine_options.on_model = [&](const ModelReport& model) {
    if (start.n_prompt <= model.n_session_context) return;
    bad_input("--prompt {} needs a longer context: there is room for {}", start.n_prompt,
              model.n_session_context);
  };
  engine = load_engine(std::move(engine_options), options.model.is_quiet);
  const auto session = engine->open_session();
  const ModelReport& model = engine->model();
  const LoadTimes& times = engine->load_times();
  const Request request{
      .tokens = random_ids(options.seed.value_or(0), start.n_prompt, model.n_vocab),
      .max_tokens = 1};
  const auto [prompt_seconds, choice_seconds] = run_prompt(*session, request);
  start.parts = {{"open", "open, read headers, plan", times.open},
                 {"experts", "copy experts", times.experts, model.bank_bytes},
                 {"rest", "the rest of the load", times.all - times.open - times.experts},
                 {"prompt", "prompt", prompt_seconds},
                 {"choice", "choice of the first token", choice_seconds}};
  start.resident = resident_now();
  start.again_seconds = run_prompt(*session, request).first;
  return start;
}

}  // namespace

int run_bench_start(std::span<const std::string> arguments) {
  StartOptions options;
  if (!options.parse(arguments)) return 0;
  EngineOptions engine_options = options.model.resolve(kCommand);
  const MachineReport machine = inspect_machine(engine_options.isa);
  std::unique_ptr<Engine> engine;
  const Start start = measure(options, std::move(engine_options), engine);
  if (!options.is_json) {
    print(table_of(start));
    return 0;
  }
  const Json json{{"machine", Json::parse(report_json(machine))},
                  {"model", Json::parse(report_json(engine->model()))},
                  {"start", json_of(start, options.is_cold)}};
  print(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  return 0;
}

}  // namespace ft
