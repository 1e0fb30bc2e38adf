// The options that every command with a model shares, and loading with a progress line.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cli/options.h"
#include "ft/engine.h"

namespace ft {

/// The model that is shipped: FT_DEMO_MODEL, or a folder that lies beside the program.
/// Errors: kIo with the places looked at.
std::string find_demo_model();

struct ModelOptions {
  std::optional<std::string> model_dir;
  std::optional<std::string> load_format;
  std::optional<uint64_t> dummy_seed;
  std::optional<std::string> isa;
  std::optional<std::string> kv_dtype;
  std::optional<std::string> dense_dtype;
  std::optional<int64_t> n_threads;
  std::optional<int64_t> n_context;
  std::optional<int64_t> n_prefill_rows;
  bool is_exact = false;
  bool no_rounding = false;
  bool is_quiet = false;

  /// --model alone, for a command that needs the folder and runs nothing.
  void add_model_to(Options& options);
  /// What says how large a model becomes in memory, for `ft inspect`.
  void add_sizes_to(Options& options);
  /// All of them.
  void add_to(Options& options);

  /// `--model` or the demo model.
  std::string resolve_model_dir() const;
  bool is_dummy() const { return load_format == "dummy"; }
  /// For a command that needs text. Errors: kBadInput for a dummy, which has no tokenizer.
  void refuse_dummy() const;
  /// Errors: UsageError for a value that no option has; as find_demo_model().
  EngineOptions resolve(const std::string& command) const;
};

/// Loads with a progress line and notes on standard error, both left out if `is_quiet`. Errors: as
/// Engine::load.
std::unique_ptr<Engine> load_engine(EngineOptions options, bool is_quiet);

}  // namespace ft
