// Rotary positions as configurations declare them: `rope_parameters`, or the older `rope_theta`
// with `rope_scaling`.
#include <cmath>

#include "base/error.h"
#include "base/printable.h"
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

double original_context(const Config& config, const Config& rope, double otherwise) {
  constexpr std::string_view kName = "original_max_position_embeddings";
  return positive(rope, {kName}, rope.number({kName}, config.number({kName}, otherwise)));
}

void read_llama3(const Config& rope, RopeSpec& spec) {
  spec.scaling = RopeScaling::kLlama3;
  spec.original_context = positive(rope, {"original_max_position_embeddings"});
  spec.low_freq_factor = positive(rope, {"low_freq_factor"});
  spec.high_freq_factor = positive(rope, {"high_freq_factor"});
  if (spec.high_freq_factor > spec.low_freq_factor) return;
  bad_input("{}: high_freq_factor {} must be larger than low_freq_factor {}", rope.where(),
            spec.high_freq_factor, spec.low_freq_factor);
}

void read_yarn(const Config& rope, RopeSpec& spec) {
  spec.scaling = RopeScaling::kYarn;
  spec.beta_fast = positive(rope, {"beta_fast"}, rope.number({"beta_fast"}, 32));
  spec.beta_slow = positive(rope, {"beta_slow"}, rope.number({"beta_slow"}, 1));
  spec.truncate = rope.flag({"truncate"}, true);
  spec.mscale_all = rope.number({"mscale_all_dim"}, 0);
  const double mscale = rope.number({"mscale"}, 0);
  const double inferred =
      mscale != 0 && spec.mscale_all != 0
          ? yarn_mscale(spec.factor, mscale) / yarn_mscale(spec.factor, spec.mscale_all)
          : yarn_mscale(spec.factor, 1);
  spec.attention_factor =
      positive(rope, {"attention_factor"}, rope.number({"attention_factor"}, inferred));
  if (spec.theta <= 1 || spec.beta_fast < spec.beta_slow) {
    bad_input(
        "{}: yarn needs a rope_theta above 1 (here {}) and beta_fast {} not below beta_slow {}",
        rope.where(), spec.theta, spec.beta_fast, spec.beta_slow);
  }
}

/// The share of a head's dimensions that rotate, 0 < share <= 1.
double rotary_share(const Config& config, const Config& rope, double otherwise) {
  constexpr std::string_view kName = "partial_rotary_factor";
  const double share = rope.number({kName}, config.number({kName}, otherwise));
  if (share > 0 && share <= 1) return share;
  bad_input("{}: {} is {}, it must be above 0 and at most 1", config.where(), kName, share);
}

std::string kind_of(const Config& rope) {
  return rope.string({"rope_type", "type"}, "default");
}

/// `rope_parameters` or the older `rope_scaling`; nothing where there is neither.
std::optional<Config> find_rope(const Config& config) {
  const std::optional<Config> now = config.find_object({"rope_parameters"});
  const std::optional<Config> before = config.find_object({"rope_scaling"});
  if (now && before && kind_of(*now) != kind_of(*before)) {
    bad_input("{}: rope_parameters say '{}', rope_scaling says '{}'; remove the wrong one",
              config.where(), printable(kind_of(*now)), printable(kind_of(*before)));
  }
  return now ? now : before;
}

}  // namespace

RopeSpec DecoderBuilder::read_rope(const Config& rope, int64_t d_head,
                                   double partial_default) const {
  RopeSpec spec;
  spec.theta = positive(rope.has("rope_theta") ? rope : config_, {"rope_theta"});
  const double share = rotary_share(config_, rope, partial_default);
  spec.d_rotary =
      size_or({"rotary_dim"}, 2, d_head, static_cast<int64_t>(static_cast<double>(d_head) * share));
  if (spec.d_rotary < 2 || spec.d_rotary % 2 != 0) {
    bad_input("{}: {} of {} dimensions of a head rotate; it must be an even number from 2 to {}",
              config_.where(), spec.d_rotary, d_head, d_head);
  }
  const std::string kind = kind_of(rope);
  // The dynamic kind changes nothing within the context that the model declares.
  if (kind == "default" || kind == "dynamic") return spec;
  if (kind != "linear" && kind != "llama3" && kind != "yarn") {
    unsupported(
        "{}: rope scaling '{}' is not supported; known: default, linear, dynamic, llama3, yarn",
        rope.where(), printable(kind));
  }
  const auto context = static_cast<double>(sizes_.n_context);
  spec.original_context = original_context(config_, rope, context);
  // Only where the original context is told apart from the model's is their ratio a factor.
  spec.factor = positive(rope, {"factor"},
                         spec.original_context == context
                             ? rope.number({"factor"})
                             : rope.number({"factor"}, context / spec.original_context));
  if (kind == "linear") spec.scaling = RopeScaling::kLinear;
  if (kind == "llama3") read_llama3(rope, spec);
  if (kind == "yarn") read_yarn(rope, spec);
  return spec;
}

RopeSpec& DecoderBuilder::rope(int64_t d_head, double partial_default) {
  parts_.rope = read_rope(find_rope(config_).value_or(config_), d_head, partial_default);
  return parts_.rope;
}

}  // namespace ft
