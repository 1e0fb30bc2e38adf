// Checks of what the engine would refuse too, but only after the load.
#include "cli/limits.h"

#include <cstddef>
#include <filesystem>

#include "base/error.h"
#include "base/units.h"
#include "ft/engine.h"

namespace ft {

namespace fs = std::filesystem;

void check_prompt(std::span<const int32_t> tokens, const ModelReport& model) {
  if (tokens.empty()) bad_input("the prompt has no tokens; give a longer text");
  if (std::ssize(tokens) > model.n_session_context) {
    bad_input(
        "the prompt has {} tokens, the context holds {}; shorten it, or give a larger --context "
        "(the model's own is {})",
        tokens.size(), model.n_session_context, model.n_context);
  }
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] < 0 || tokens[i] >= model.n_vocab) {
      bad_input("token {} at position {} is outside the vocabulary of {}", tokens[i], i,
                model.n_vocab);
    }
  }
}

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

void check_memory(const std::string& what, uint64_t n_bytes) {
  const uint64_t available_bytes = inspect_machine().memory_available_bytes;
  if (n_bytes <= available_bytes || available_bytes == 0) return;  // 0: nobody knows
  fail(ErrorKind::kOutOfMemory, "{} need {}, and {} of memory are available", what,
       format_bytes(n_bytes), format_bytes(available_bytes));
}

}  // namespace ft
