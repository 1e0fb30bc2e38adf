// Options to EngineOptions, and the way to the shipped model.
#include "cli/model_options.h"

#include <cstdlib>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/progress.h"
#include "cli/console.h"

namespace ft {
namespace {

namespace fs = std::filesystem;

constexpr double kMost = 1e9;  // of any count on the command line

bool is_model(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / "config.json", error);
}

KvDType kv_dtype_of(const std::string& command, const std::string& name) {
  if (name == "bf16") return KvDType::kBF16;
  if (name == "f32") return KvDType::kF32;
  if (name == "fp8") return KvDType::kFp8;
  throw UsageError(command, fmt::format("--kv-dtype is bf16, f32 or fp8, not '{}'", name));
}

DenseDType dense_dtype_of(const std::string& command, const std::string& name) {
  if (name == "file") return DenseDType::kFile;
  if (name == "q8") return DenseDType::kQ8;
  throw UsageError(command, fmt::format("--dense-dtype is file or q8, not '{}'", name));
}

}  // namespace

std::string find_demo_model() {
  if (const char* given = std::getenv("FT_DEMO_MODEL"); given != nullptr && *given != '\0') {
    if (is_model(given)) return given;
    fail(ErrorKind::kIo, "FT_DEMO_MODEL is {}, which holds no config.json", given);
  }
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  std::string tried;
  for (const char* place : {"../../models/demo", "../share/freetoken/models/demo"}) {
    const fs::path folder = (program.parent_path() / place).lexically_normal();
    if (is_model(folder)) return folder.string();
    tried += fmt::format("{}{}", tried.empty() ? "" : ", ", folder.string());
  }
  fail(ErrorKind::kIo,
       "no --model given, and the demo model is not where it should be: {}; give --model DIR, or "
       "set FT_DEMO_MODEL to its folder",
       tried);
}

void ModelOptions::add_model_to(Options& options) {
  options.group("Model");
  options.value("--model", model_dir, "Folder of the model (default: the shipped demo model)");
}

void ModelOptions::add_sizes_to(Options& options) {
  add_model_to(options);
  options.value("--load-format", load_format,
                "auto, or dummy: random weights for a folder's config.json, with token ids instead "
                "of text (default: auto)");
  options.value("--dummy-seed", dummy_seed, "Of a dummy's weights (default: 0)");
  options.value("--isa", isa,
                "Instruction set: auto, scalar, avx2, avx_vnni, avx512, avx512_vnni, avx512_bf16, "
                "amx (default: "
                "auto)");
  options.value("--kv-dtype", kv_dtype, "Keys and values in bf16, f32 or fp8 (default: bf16)");
  options.value(
      "--dense-dtype", dense_dtype,
      "Dense weights as in the file, or q8: plain ones become 8 bits at load, which halves "
      "what a step reads of bf16 (default: file)");
  options.flag("--exact", is_exact,
               "Dequantised weights times float32 activations: the specification, slow; implies "
               "--kv-dtype f32");
  options.flag(
      "--no-rounding", no_rounding,
      "The prompt's activations are not rounded to bf16 before they meet bf16 weights, where "
      "that is faster (with avx512_bf16 and amx)");
  options.value("--context", n_context,
                "Longest sequence in tokens (default: the model's, at most 8192)", {1, kMost});
  options.value("--prefill-rows", n_prefill_rows, "Prompt tokens of one step (default: 256)",
                {1, kMost});
}

void ModelOptions::add_to(Options& options) {
  add_sizes_to(options);
  options.value("--threads", n_threads, "Threads (default: one for each core that may be used)",
                {1, kMost});
  options.flag("--quiet", is_quiet, "Nothing on standard error but errors");
}

std::string ModelOptions::resolve_model_dir() const {
  return model_dir ? *model_dir : find_demo_model();
}

void ModelOptions::refuse_dummy() const {
  if (!is_dummy()) return;
  bad_input(
      "--load-format dummy: a dummy model has no tokenizer, its token ids are mere numbers; `ft "
      "logits --tokens 1,2,3` takes them, `ft bench decode` draws them");
}

EngineOptions ModelOptions::resolve(const std::string& command) const {
  EngineOptions engine;
  if (load_format && *load_format != "auto" && *load_format != "dummy") {
    throw UsageError(command,
                     fmt::format("--load-format is auto or dummy, not '{}'", *load_format));
  }
  if (dummy_seed && !is_dummy()) {
    throw UsageError(command, "--dummy-seed has no effect without --load-format dummy");
  }
  engine.load_format = is_dummy() ? LoadFormat::kDummy : LoadFormat::kAuto;
  engine.dummy_seed = dummy_seed.value_or(engine.dummy_seed);
  if (isa) engine.isa = *isa;
  engine.kv_dtype = kv_dtype_of(command, kv_dtype.value_or(is_exact ? "f32" : "bf16"));
  if (is_exact && engine.kv_dtype != KvDType::kF32) {
    throw UsageError(
        command,
        fmt::format("--exact keeps keys and values in f32; leave out --kv-dtype {}", *kv_dtype));
  }
  engine.dense_dtype = dense_dtype_of(command, dense_dtype.value_or("file"));
  if (is_exact && no_rounding) {
    throw UsageError(command, "--exact rounds nothing; leave out --no-rounding");
  }
  engine.exact = is_exact;
  engine.may_round = !no_rounding;
  engine.n_threads = static_cast<int>(n_threads.value_or(engine.n_threads));
  engine.n_context = n_context.value_or(engine.n_context);
  engine.n_prefill_rows = n_prefill_rows.value_or(engine.n_prefill_rows);
  engine.model_dir = resolve_model_dir();
  return engine;
}

std::unique_ptr<Engine> load_engine(EngineOptions options, bool is_quiet) {
  if (is_quiet) return Engine::load(options);
  ProgressLine line("loading");
  options.on_progress = [&](const LoadProgress& now) {
    line.update(now.done_bytes, now.total_bytes, now.seconds);
  };
  options.on_note = [&](const std::string& note) {
    line.finish();
    print_line(note);
  };
  return Engine::load(options);
}

}  // namespace ft
