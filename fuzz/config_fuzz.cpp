// Any bytes as config.json: every accessor and the quantisation reader end with a value or an
// Error.
#include <string_view>

#include "files/config.h"
#include "files/quantization.h"
#include "ft/error.h"

namespace {

template <typename Action>
void allow_error(Action&& action) {
  try {
    action();
  } catch (const ft::Error&) {
  }
}

void read_all(const ft::Config& config, int depth) {
  for (const std::string& name : config.names()) {
    allow_error([&] { config.integer({name}, 0); });
    allow_error([&] { config.number({name}, 0); });
    allow_error([&] { config.flag({name}, false); });
    allow_error([&] { config.string({name}, ""); });
    allow_error([&] { config.integers({name}); });
    allow_error([&] { config.numbers({name}); });
    allow_error([&] { config.strings({name}); });
    allow_error([&] {
      if (const auto inner = config.find_object({name}); inner && depth > 0) {
        read_all(*inner, depth - 1);
      }
    });
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t n_bytes) {
  allow_error([&] {
    const auto config = ft::Config::parse({reinterpret_cast<const char*>(data), n_bytes}, "fuzz");
    read_all(config, 3);
    allow_error([&] { config.text_model(); });
    const ft::Quantization quantization = ft::quantization_of(config);
    for (const std::string_view module :
         {"lm_head", "model.layers.0.mlp.gate", "model.layers.10.self_attn.q_proj",
          "model.layers.3.mlp.experts.7.down_proj", "a..b.", "."}) {
      quantization.is_ignored(module);
    }
  });
  return 0;
}
