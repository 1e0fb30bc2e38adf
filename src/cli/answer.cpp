// Generation and its figures.
#include "cli/answer.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/units.h"
#include "cli/interrupt.h"
#include "text/detokenizer.h"
#include "text/stop_strings.h"
#include "text/tokenizer.h"

namespace ft {
namespace {

const char* name_of(StopReason reason) {
  switch (reason) {
    case StopReason::kStopToken:
      return "stop_token";
    case StopReason::kMaxTokens:
      return "max_tokens";
    case StopReason::kContextFull:
      return "context_full";
    case StopReason::kCaller:
      break;
  }
  return "interrupted";
}

std::string format_rate(double per_s) {
  return per_s < 100 ? fmt::format("{:.1f}", per_s) : format_count(std::llround(per_s));
}

double rate(double n, double seconds) {
  return n > 0 && seconds > 0 ? n / seconds : 0;
}

std::string plain_text_of(const Reply& reply, const Tokenizer& tokenizer,
                          const std::vector<std::string>& stop_strings) {
  StopStrings stop(stop_strings);
  std::string text = stop.push(tokenizer.decode(reply.tokens, /*skip_special=*/true));
  return text + stop.finish();
}

}  // namespace

Answer generate_answer(Session& session, const Tokenizer& tokenizer, std::vector<int32_t> prompt,
                       const AnswerOptions& options,
                       const std::function<void(std::string_view)>& show) {
  Detokenizer detokenizer(tokenizer, !options.shows_special);
  StopStrings stop(options.stop_strings);
  Answer answer;
  const auto add = [&](const std::string& text) {
    if (text.empty()) return;
    answer.text += text;
    show(text);
  };
  const Request request{.tokens = std::move(prompt),
                        .sampling = options.sampling,
                        .max_tokens = options.max_tokens,
                        .stop_tokens = options.stop_tokens,
                        .keep_going = [] { return !Interrupts::is_set(); }};
  answer.reply = session.generate(request, [&](int32_t token) {
    add(stop.push(detokenizer.push(token)));
    return !stop.is_stopped() && !Interrupts::is_set();
  });
  add(stop.push(detokenizer.finish()));
  add(stop.finish());
  answer.plain_text = options.shows_special
                          ? plain_text_of(answer.reply, tokenizer, options.stop_strings)
                          : answer.text;
  answer.is_interrupted = answer.reply.reason == StopReason::kCaller && !stop.is_stopped();
  answer.stop_reason = stop.is_stopped() ? "stop_string" : name_of(answer.reply.reason);
  return answer;
}

Speed speed_of(const Reply& reply, Engine& engine) {
  Speed speed;
  speed.prefill_tokens_per_s =
      rate(static_cast<double>(reply.n_prompt - reply.n_reused), reply.prefill_seconds);
  speed.decode_tokens_per_s = rate(static_cast<double>(reply.n_decode), reply.decode_seconds);
  speed.gbps = rate(static_cast<double>(reply.decode_bytes), reply.decode_seconds) / 1e9;
  if (speed.gbps > 0) {
    const ReadRate rate = engine.read_rate();
    speed.read_gbps = rate.gbps;
    speed.is_read_short = rate.is_short;
    speed.share_of_read = speed.read_gbps > 0 ? speed.gbps / speed.read_gbps : 0;
  }
  return speed;
}

std::string speed_text(const Reply& reply, const Speed& speed) {
  std::string text = fmt::format("prompt {} tokens", format_count(reply.n_prompt));
  if (reply.n_reused > 0) text += fmt::format(" ({} reused)", format_count(reply.n_reused));
  if (speed.prefill_tokens_per_s > 0) {
    text += fmt::format(", {} tokens/s", format_rate(speed.prefill_tokens_per_s));
  }
  text += fmt::format("; generated {} tokens", format_count(std::ssize(reply.tokens)));
  if (speed.decode_tokens_per_s > 0) {
    text += fmt::format(", {} tokens/s", format_rate(speed.decode_tokens_per_s));
  }
  if (speed.gbps > 0) {
    text += fmt::format("; weights read at {:.1f} GB/s, ", speed.gbps);
    text += speed.read_gbps > 0 ? fmt::format("{:.0f} % of this machine's {:.1f} GB/s",
                                              speed.share_of_read * 100, speed.read_gbps)
                                : "this machine's rate not measured: no memory for it";
    if (speed.read_gbps > 0 && speed.is_read_short) {
      text += ", which caches flatter, since there was little memory to measure with";
    }
  }
  return text;
}

}  // namespace ft
