// Rotary positions as configurations declare them: `rope_parameters`, or the older `rope_theta`
// with `rope_scaling`.
#include <cmath>

#include "base/error.h"
#include "models/builder.h"

namespace ft {
namespace {

double positive(const Config& config, Config::Names names, double value) {
  if (std::isfinite(value) && value > 0) return value;
  bad_input("{}: {} is {}, it must be a positive number", config.where(), fmt::join(names, " or "),
            value);
}

double positive(const Config& config, Config::Names names) {
  return positive(config, names, config.number(names));
}

void read_yarn(const Config& rope, RopeSpec& spec) {
  spec.scaling = RopeScaling::kYarn;
  spec.beta_fast = positive(rope, {"beta_fast"}, rope.number({"beta_fast"}, 32));
  spec.beta_slow = positive(rope, {"beta_slow"}, rope.number({"beta_slow"}, 1));
  spec.truncate = rope.flag({"truncate"}, true);
  const double mscale = rope.number({"mscale"}, 0);
  const double mscale_all = rope.number({"mscale_all_dim"}, 0);
  const double inferred = mscale != 0 && mscale_all != 0 ? yarn_mscale(spec.factor, mscale) /
                                                               yarn_mscale(spec.factor, mscale_all)
                                                         : yarn_mscale(spec.factor, 1);
  spec.attention_factor = rope.number({"attention_factor"}, inferred);
}

}  // namespace

RopeSpec DecoderBuilder::rope(int64_t d_head, double partial_default) const {
  const std::optional<Config> found = config_.find_object({"rope_parameters", "rope_scaling"});
  const Config& rope = found ? *found : config_;
  RopeSpec spec;
  spec.theta =
      rope.has("rope_theta") ? positive(rope, {"rope_theta"}) : positive(config_, {"rope_theta"});
  const double outer = config_.number({"partial_rotary_factor"}, partial_default);
  const double partial = found ? rope.number({"partial_rotary_factor"}, outer) : outer;
  spec.d_rotary = size_or({"rotary_dim"}, 2, d_head,
                          static_cast<int64_t>(static_cast<double>(d_head) * partial));
  if (spec.d_rotary < 2 || spec.d_rotary > d_head || spec.d_rotary % 2 != 0) {
    bad_input("{}: {} of {} dimensions of a head rotate; it must be an even number from 2 to {}",
              config_.where(), spec.d_rotary, d_head, d_head);
  }
  const std::string kind = found ? rope.string({"rope_type", "type"}, "default") : "default";
  if (kind == "default") return spec;
  const double original =
      rope.number({"original_max_position_embeddings"},
                  config_.number({"original_max_position_embeddings"}, double(sizes_.n_context)));
  spec.original_context = positive(rope, {"original_max_position_embeddings"}, original);
  spec.factor =
      positive(rope, {"factor"}, rope.number({"factor"}, double(sizes_.n_context) / original));
  if (kind == "linear") {
    spec.scaling = RopeScaling::kLinear;
  } else if (kind == "llama3") {
    spec.scaling = RopeScaling::kLlama3;
    spec.low_freq_factor = positive(rope, {"low_freq_factor"});
    spec.high_freq_factor = positive(rope, {"high_freq_factor"});
    if (spec.high_freq_factor <= spec.low_freq_factor) {
      bad_input("{}: high_freq_factor {} must be larger than low_freq_factor {}", rope.where(),
                spec.high_freq_factor, spec.low_freq_factor);
    }
  } else if (kind == "yarn") {
    read_yarn(rope, spec);
  } else if (kind != "dynamic") {  // the dynamic kind changes nothing within the context that the
                                   // model declares
    unsupported(
        "{}: rope scaling '{}' is not supported; known: default, linear, dynamic, llama3, yarn",
        rope.where(), kind);
  }
  return spec;
}

}  // namespace ft
