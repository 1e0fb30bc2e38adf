// `ft logits`: the numbers behind a model, for those who compare implementations.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file_map.h"
#include "base/printable.h"
#include "base/units.h"
#include "cli/chat_text.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/model_options.h"
#include "cli/options.h"
#include "cli/token_list.h"
#include "ft/engine.h"
#include "ft/tensors.h"
#include "text/tokenizer.h"

namespace ft {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCommand = "ft logits";
constexpr uint64_t kMaxTokenFileBytes = 256 << 20;

struct LogitsOptions {
  std::optional<std::string> tokens;
  std::optional<std::string> tokens_file;
  std::optional<std::string> out;
  std::optional<int64_t> n_greedy;
  ModelOptions model;

  bool parse(std::span<const std::string> arguments) {
    Options options(
        kCommand,
        "Computes the logits of every position of the given tokens. Without --out it prints "
        "the five best of the last position.");
    options.group("Tokens");
    options.value("--tokens", tokens, "Ids apart by commas or spaces");
    options.value("--tokens-file", tokens_file, "A file of such ids");
    options.excludes("--tokens", "--tokens-file");
    options.value("--greedy", n_greedy, "Continue by the N best tokens, past any end token",
                  {1, 1e9});
    options.group("Output");
    options.value("--out", out,
                  "Write a safetensors file: logits float32 [T, V] and, with --greedy, greedy_ids "
                  "int64 [N]");
    model.add_to(options);
    return options.parse(arguments);
  }

  std::vector<int32_t> read_tokens() const {
    if (tokens) return parse_token_list(*tokens, "--tokens");
    if (!tokens_file) throw UsageError(kCommand, "no tokens: give --tokens or --tokens-file");
    return parse_token_list(read_text_file_or_pipe(*tokens_file, kMaxTokenFileBytes), *tokens_file);
  }
};

/// A file of that name can be made: its folder is there, and it is no folder itself.
void check_output_file(const std::string& option, const std::string& file) {
  std::error_code error;
  const fs::path folder = fs::path(file).parent_path();
  if (!folder.empty() && !fs::is_directory(folder, error)) {
    bad_input("{} {}: there is no folder {}; make it first", option, file, folder.string());
  }
  if (fs::path(file).filename().empty() || fs::is_directory(file, error)) {
    bad_input("{} {}: that is a folder; give the name of a file in it", option, file);
  }
}

/// `what` names the bytes.
void check_memory(const std::string& what, uint64_t n_bytes) {
  const uint64_t available_bytes = inspect_machine().memory_available_bytes;
  if (n_bytes <= available_bytes || available_bytes == 0) return;  // 0: nobody knows
  fail(ErrorKind::kOutOfMemory, "{} need {}, and {} of memory are available", what,
       format_bytes(n_bytes), format_bytes(available_bytes));
}

/// All that can be wrong is found here, before the weights are read. Errors: kBadInput, and
/// kOutOfMemory for logits that do not fit.
void check_request(const LogitsOptions& options, std::span<const int32_t> tokens,
                   const ModelReport& model) {
  check_prompt(tokens, model);
  // The last token of a continuation is chosen and not read.
  const int64_t n_most = model.n_session_context - std::ssize(tokens) + 1;
  if (options.n_greedy && *options.n_greedy > n_most) {
    bad_input("--greedy {}: behind {} tokens the context of {} has room for {}", *options.n_greedy,
              tokens.size(), model.n_session_context, n_most);
  }
  if (!options.out) return;
  check_output_file("--out", *options.out);
  const uint64_t n_bytes = tokens.size() * static_cast<uint64_t>(model.n_vocab) * sizeof(float);
  check_memory(fmt::format("the model ({}) and the logits of {} tokens ({})",
                           format_bytes(model.host_bytes), tokens.size(), format_bytes(n_bytes)),
               model.host_bytes + n_bytes);
}

/// Ids can be shown without their spelling: a tokenizer that cannot be read costs a note.
std::optional<Tokenizer> load_tokenizer_to_spell(const std::string& folder, bool is_quiet) {
  try {
    std::optional<Tokenizer> tokenizer = load_tokenizer_if_present(folder);
    if (tokenizer && !is_quiet) print_notes(*tokenizer);
    return tokenizer;
  } catch (const Error& error) {
    if (!is_quiet) {
      print_line(fmt::format("tokens are shown without their text: {}", error.what()));
    }
    return std::nullopt;
  }
}

/// The session is left with all tokens in it. All rows, or the last one only. [n_rows, n_vocab]
std::vector<float> score(Session& session, std::span<const int32_t> tokens, size_t n_vocab,
                         bool keeps_all) {
  std::vector<float> rows(keeps_all ? tokens.size() * n_vocab : n_vocab);
  session.score(tokens, [&](int64_t position, std::span<const float> logits) {
    const size_t row = keeps_all ? static_cast<size_t>(position) : 0;
    std::copy(logits.begin(), logits.end(), rows.begin() + static_cast<ptrdiff_t>(row * n_vocab));
  });
  return rows;
}

std::vector<int64_t> continue_greedily(Session& session, const std::vector<int32_t>& tokens,
                                       int64_t n) {
  const Request request{.tokens = tokens, .sampling = {}, .max_tokens = n, .stop_tokens = {}};
  const Reply reply = session.generate(request, [](int32_t) { return true; });
  return {reply.tokens.begin(), reply.tokens.end()};
}

/// NaN, which compares with nothing, counts as least.
float comparable(float logit) {
  return std::isnan(logit) ? -std::numeric_limits<float>::infinity() : logit;
}

void print_best(std::span<const float> logits, const std::optional<Tokenizer>& tokenizer) {
  std::vector<int32_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  const size_t n_best = std::min<size_t>(5, ids.size());
  const auto is_better = [&](int32_t a, int32_t b) {
    const float x = comparable(logits[static_cast<size_t>(a)]);
    const float y = comparable(logits[static_cast<size_t>(b)]);
    return x > y || (x == y && a < b);
  };
  std::partial_sort(ids.begin(), ids.begin() + static_cast<ptrdiff_t>(n_best), ids.end(),
                    is_better);
  for (size_t i = 0; i < n_best; ++i) {
    print(fmt::format("{:>7} {:>10.4f}{}\n", ids[i], logits[static_cast<size_t>(ids[i])],
                      tokenizer ? "  " + printable(tokenizer->piece(ids[i])) : ""));
  }
}

void write_file(const std::string& file, std::span<const float> logits, size_t n_tokens,
                std::span<const int64_t> greedy) {
  const int64_t n_rows = static_cast<int64_t>(n_tokens);
  std::vector<NamedTensor> tensors{
      {.name = "logits", .shape = {n_rows, std::ssize(logits) / n_rows}, .values = logits}};
  if (!greedy.empty()) {
    tensors.push_back({.name = "greedy_ids", .shape = {std::ssize(greedy)}, .values = greedy});
  }
  write_safetensors(file, tensors);
}

}  // namespace

int run_logits(std::span<const std::string> arguments) {
  LogitsOptions options;
  if (!options.parse(arguments)) return 0;
  const std::vector<int32_t> tokens = options.read_tokens();
  EngineOptions engine_options = options.model.resolve(kCommand);
  engine_options.on_model = [&](const ModelReport& model) {
    check_request(options, tokens, model);
  };
  std::optional<Tokenizer> tokenizer;
  if (!options.out && !options.model.is_dummy()) {
    tokenizer = load_tokenizer_to_spell(engine_options.model_dir, options.model.is_quiet);
  }
  const auto engine = load_engine(std::move(engine_options), options.model.is_quiet);
  const auto session = engine->open_session();
  const size_t n_vocab = static_cast<size_t>(engine->model().n_vocab);
  const std::vector<float> logits = score(*session, tokens, n_vocab, options.out.has_value());
  std::vector<int64_t> greedy;
  if (options.n_greedy) greedy = continue_greedily(*session, tokens, *options.n_greedy);
  if (options.out) {
    write_file(*options.out, logits, tokens.size(), greedy);
    return 0;
  }
  print_best(logits, tokenizer);
  if (!greedy.empty()) print(fmt::format("greedy: {}\n", fmt::join(greedy, " ")));
  return 0;
}

}  // namespace ft
