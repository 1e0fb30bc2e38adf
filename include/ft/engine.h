// The gate: load a model, open a session, feed it tokens. Text, templates and JSON stay outside.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ft/dense_dtype.h"
#include "ft/error.h"
#include "ft/kv_dtype.h"
#include "ft/report.h"
#include "ft/sampling.h"

namespace ft {

enum class LoadFormat {
  kAuto,   // the weights that the folder holds
  kDummy,  // random weights for its config.json, as the declared scheme stores them: for measuring
};

/// What a load has done so far; called from the loading thread a few times a second.
struct LoadProgress {
  uint64_t done_bytes = 0;
  uint64_t total_bytes = 0;
  double seconds = 0;  // since the first byte
};

struct EngineOptions {
  std::string model_dir = {};  // a folder with config.json and *.safetensors
  LoadFormat load_format = LoadFormat::kAuto;
  uint64_t dummy_seed = 0;  // of a dummy: same seed, same weights
  // Instruction set: scalar, avx2, avx_vnni, avx512, avx512_vnni, avx512_bf16, amx, or auto: that of
  // the variable FT_ISA, else the best; an impossible one is an Error
  std::string isa = "auto";
  int n_threads = 0;  // 0: one for each allowed physical core
  KvDType kv_dtype = KvDType::kBF16;
  DenseDType dense_dtype = DenseDType::kFile;
  // Dequantised weights times float32 activations, float32 KV: the specification
  bool exact = false;
  // generate() may round activations of the prompt to bf16 before they meet bf16 weights, where the
  // instruction set multiplies these faster (docs/FORMATS.md); score() never does
  bool may_round = true;
  int64_t n_context = 0;         // longest sequence of a session; 0: the model's, at most 8192
  int64_t n_prefill_rows = 256;  // rows of one prefill step
  std::function<void(const LoadProgress&)> on_progress = {};
  // One line: what is about to be allocated, a fallback and its cost
  std::function<void(const std::string&)> on_note = {};
  // The model as it will be loaded, before anything is allocated; what it throws ends the load
  std::function<void(const ModelReport&)> on_model = {};
};

struct Request {
  // The whole timeline so far; the longest common prefix with the session is reused
  std::vector<int32_t> tokens = {};
  SamplingParams sampling = {};
  int64_t max_tokens = 0;                 // 0: until the context is full
  std::vector<int32_t> stop_tokens = {};  // the reply ends before any of these
  // Asked before each step of the prompt; false ends the request with StopReason::kCaller
  std::function<bool()> keep_going = {};
};

enum class StopReason { kStopToken, kMaxTokens, kContextFull, kCaller };

struct Reply {
  std::vector<int32_t> tokens;  // without the stop token
  StopReason reason = StopReason::kStopToken;
  int64_t n_prompt = 0;  // tokens of the request
  int64_t n_reused = 0;  // of these, already in the session
  double prefill_seconds = 0;
  double decode_seconds = 0;  // from the first of the n_decode steps to the last token
  int64_t n_decode = 0;
  uint64_t decode_bytes = 0;     // weights read by these steps, as the model states them
  uint64_t decode_kv_bytes = 0;  // keys and values that their attention read, windows considered
};

/// One timeline of tokens with its KV cache. All sessions of an engine belong to one thread at a
/// time, and end before the engine does.
class Session {
 public:
  virtual ~Session() = default;

  /// Runs the request and calls `on_token` for each token of the reply as it is chosen; false stops
  /// it. Errors: kBadInput for an empty prompt, a token outside the vocabulary, a prompt longer than
  /// the context, or sampling that is out of range; kOutOfMemory if other sessions hold the pages.
  virtual Reply generate(const Request& request, const std::function<bool(int32_t)>& on_token) = 0;

  /// Forgets all tokens, takes these and hands over the logits of each position, in order: [n_vocab]
  /// each. Errors: as generate().
  virtual void score(
      std::span<const int32_t> tokens,
      const std::function<void(int64_t position, std::span<const float> logits)>& on_logits) = 0;

  /// Forgets all tokens.
  virtual void reset() = 0;
};

/// One model on one machine.
class Engine {
 public:
  virtual ~Engine() = default;

  /// Errors: kBadInput, kUnsupported, kIo for the checkpoint; kOutOfMemory with the sum before
  /// anything is allocated.
  static std::unique_ptr<Engine> load(const EngineOptions& options);

  /// An empty timeline; all sessions share the pages of one KV cache, which holds one full context.
  virtual std::unique_ptr<Session> open_session() = 0;
  virtual const ModelReport& model() const = 0;
  virtual const LoadTimes& load_times() const = 0;  // of this engine's load
  virtual int64_t n_context() const = 0;            // tokens of a session, at most

  /// How fast this machine reads memory with the engine's threads; measured at the first call (about
  /// 0.3 s, over 512 MiB, or four times the caches of a machine that has more; an eighth of the free
  /// memory at most, which is free again afterwards).
  virtual ReadRate read_rate() = 0;

  /// The same, measured anew at each call: for a figure that is set beside one of the same moment.
  virtual ReadRate measure_read_rate() = 0;
};

/// Binds the model without loading it: headers, scales and small vectors. Same errors as
/// Engine::load, except memory.
ModelReport inspect_model(const EngineOptions& options);

/// What generate() asks of a prompt, for a check before the load. Errors: kBadInput for no tokens,
/// more than the session's context holds, or one outside the vocabulary.
void check_prompt(std::span<const int32_t> tokens, const ModelReport& model);

/// This machine, and the instruction set that an engine with this `isa` would take. Errors:
/// kBadInput for one that is unknown or impossible here.
MachineReport inspect_machine(const std::string& isa = "auto");

}  // namespace ft
