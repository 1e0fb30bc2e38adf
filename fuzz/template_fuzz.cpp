// Chat templates from hostile files over hostile conversations. The input is a template, optionally
// followed by a zero byte and the messages as JSON. Nothing but an Error may come out, and every
// text that comes out is valid UTF-8 in whole parts.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ft/error.h"
#include "text/jinja/eval.h"
#include "text/jinja/parser.h"
#include "text/utf8.h"

namespace {

constexpr std::string_view kMessages =
    R"([{"role": "system", "content": "Be kind."}, {"role": "user", "content": "<|im_end|> é 1 2.5"},
        {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "f", "arguments": {"a": [1, 2.5, true]}}}]},
        {"role": "tool", "content": "x\ny"}])";

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const ft::jinja::Text& text) {
  require(!ft::find_invalid_utf8(text.bytes()));
  size_t end = 0;
  for (const auto& part : text.parts()) {
    require(part.end > end);
    end = part.end;
  }
  require(end == text.size());
}

void render(std::string_view source, std::string_view messages) {
  namespace jinja = ft::jinja;
  jinja::Limits limits;
  limits.n_steps = 100'000;  // an input should take milliseconds
  limits.text_bytes = 1 << 20;
  jinja::Run run("t", limits);
  jinja::Dict variables;
  variables.set(run, jinja::made(run, "messages"), jinja::parse_json(run, messages, "messages"));
  variables.set(run, jinja::made(run, "tools"), jinja::None{});
  variables.set(run, jinja::made(run, "bos_token"), jinja::made(run, "<s>"));
  variables.set(run, jinja::made(run, "add_generation_prompt"), true);
  jinja::Body body = jinja::parse_template(source, "t");
  check(*jinja::Evaluator(run, variables).render(body));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  size_t zero = input.find('\0');
  std::string_view source = input.substr(0, zero);
  if (ft::find_invalid_utf8(source)) return 0;  // ChatTemplate refuses it
  try {
    render(source, zero == std::string_view::npos ? kMessages : input.substr(zero + 1));
  } catch (const ft::Error&) {
  }
  return 0;
}
