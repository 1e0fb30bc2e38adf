#include "engine/session.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "engine/sampler.h"

namespace ft {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

void check_prompt(std::span<const int32_t> tokens, const ModelReport& model) {
  if (tokens.empty()) bad_input("the prompt has no tokens; give a longer text");
  if (std::ssize(tokens) > model.n_session_context) {
    const std::string more =
        model.n_session_context < model.n_context
            ? fmt::format(", or ask for a longer context (--context, up to {})", model.n_context)
            : "; the model knows no longer one";
    bad_input("the prompt has {} tokens, the context holds {}; shorten it{}", tokens.size(),
              model.n_session_context, more);
  }
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] < 0 || tokens[i] >= model.n_vocab) {
      bad_input("token {} at position {} is outside the vocabulary of {}", tokens[i], i,
                model.n_vocab);
    }
  }
}

/// Runs one step and remembers its tokens.
std::span<const float> RunnerSession::append(std::span<const int32_t> tokens, LogitRows wanted,
                                             Phase phase) {
  const auto first = static_cast<int64_t>(tokens_.size());
  if (!pages_.grow(first + static_cast<int64_t>(tokens.size()))) {
    fail(ErrorKind::kOutOfMemory,
         "the KV cache has no room for {} more tokens: other sessions hold its pages; reset or "
         "close one, or load with a longer context",
         tokens.size());
  }
  const std::span<const float> logits = runner_.step(tokens, first, pages_, wanted, phase);
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  return logits;
}

/// Forgets what differs from `tokens`, and always the last one of them: its logits are wanted.
int64_t RunnerSession::keep_common_prefix(std::span<const int32_t> tokens) {
  const size_t limit = std::min(tokens_.size(), tokens.size() - 1);
  size_t n = 0;
  while (n < limit && tokens_[n] == tokens[n]) ++n;
  tokens_.resize(n);
  pages_.shrink(static_cast<int64_t>(n));
  return static_cast<int64_t>(n);
}

/// Runs the part of the prompt that the session has not yet, and returns the logits of its last
/// token; nothing where the caller stopped it.
std::span<const float> RunnerSession::prefill(const Request& request, Reply& reply) {
  reply.n_reused = keep_common_prefix(request.tokens);
  const Clock::time_point start = Clock::now();
  const auto n_rows = static_cast<size_t>(runner_.placement().n_prefill_rows);
  auto rest = std::span(request.tokens).subspan(static_cast<size_t>(reply.n_reused));
  std::span<const float> logits;
  while (!rest.empty()) {
    if (request.keep_going && !request.keep_going()) {
      logits = {};
      break;
    }
    const bool is_last = rest.size() <= n_rows;
    const size_t n = std::min(rest.size(), n_rows);
    logits = append(rest.first(n), is_last ? LogitRows::kLast : LogitRows::kNone, Phase::kPrefill);
    rest = rest.subspan(n);
  }
  reply.prefill_seconds = seconds_since(start);
  return logits;
}

Reply RunnerSession::generate(const Request& request,
                              const std::function<bool(int32_t)>& on_token) {
  check_prompt(request.tokens, model_);
  if (request.max_tokens < 0) {
    bad_input("max tokens is {}, it must not be negative", request.max_tokens);
  }
  Sampler sampler(request.sampling, request.tokens);  // refuses before the prompt is run
  Reply reply;
  reply.n_prompt = static_cast<int64_t>(request.tokens.size());
  const std::span<const float> logits = prefill(request, reply);
  if (logits.empty()) {
    reply.reason = StopReason::kCaller;
  } else {
    decode(request, logits, sampler, reply, on_token);
  }
  return reply;
}

void RunnerSession::decode(const Request& request, std::span<const float> logits, Sampler& sampler,
                           Reply& reply, const std::function<bool(int32_t)>& on_token) {
  Clock::time_point start = Clock::now();
  while (true) {
    const int32_t token = sampler.choose(logits);
    const bool is_stop = std::find(request.stop_tokens.begin(), request.stop_tokens.end(), token) !=
                         request.stop_tokens.end();
    if (is_stop) {
      reply.reason = StopReason::kStopToken;
      break;
    }
    reply.tokens.push_back(token);
    if (!on_token(token)) {
      reply.reason = StopReason::kCaller;
      break;
    }
    if (request.max_tokens > 0 && static_cast<int64_t>(reply.tokens.size()) >= request.max_tokens) {
      reply.reason = StopReason::kMaxTokens;
      break;
    }
    if (static_cast<int64_t>(tokens_.size()) >= runner_.placement().n_context) {
      reply.reason = StopReason::kContextFull;
      break;
    }
    if (reply.n_decode == 0) start = Clock::now();
    logits = append({&token, 1}, LogitRows::kLast, Phase::kDecode);
    ++reply.n_decode;
    reply.decode_kv_bytes +=
        runner_.model().kv_step_bytes(runner_.placement().kv, static_cast<int64_t>(tokens_.size()));
  }
  if (reply.n_decode > 0) reply.decode_seconds = seconds_since(start);
  reply.decode_bytes = static_cast<uint64_t>(reply.n_decode) * runner_.model().card().step_bytes;
}

void RunnerSession::score(std::span<const int32_t> tokens,
                          const std::function<void(int64_t, std::span<const float>)>& on_logits) {
  check_prompt(tokens, model_);
  reset();
  const auto n_vocab = static_cast<size_t>(runner_.model().card().n_vocab);
  int64_t position = 0;
  while (!tokens.empty()) {
    const size_t n = std::min(tokens.size(), static_cast<size_t>(runner_.placement().n_logit_rows));
    const std::span<const float> logits = append(tokens.first(n), LogitRows::kAll, Phase::kDecode);
    for (size_t i = 0; i < n; ++i) on_logits(position++, logits.subspan(i * n_vocab, n_vocab));
    tokens = tokens.subspan(n);
  }
}

void RunnerSession::reset() {
  tokens_.clear();
  pages_.shrink(0);
}

}  // namespace ft
