// What a configuration declares about quantised weights, whichever tool wrote it.
#pragma once

#include <cstdint>
#include <string_view>

#include "files/config.h"
#include "files/module_patterns.h"

namespace ft {

struct Quantization {
  enum class Scheme {
    kNone,      // weights are stored in the type that they are used in
    kFp8Block,  // e4m3, one scale for each block of 128 x 128
    kNvfp4,  // packed e2m1, an e4m3 scale for each group of a row, one float32 scale for the matrix
    kMxfp4,  // packed e2m1, an e8m0 scale for each group of a row
  };
  enum class Dialect {
    kNative,             // the model's own release
    kModelOpt,           // nvfp4: `weight_scale_2` multiplies
    kCompressedTensors,  // nvfp4: `weight_global_scale` divides
  };

  Scheme scheme = Scheme::kNone;
  Dialect dialect = Dialect::kNative;
  ModulePatterns ignored;
  ModulePatterns targets;  // empty: every linear module

  /// Whether this module ("model.layers.0.mlp.gate") keeps its own type although others are
  /// quantised.
  bool is_ignored(std::string_view module) const;
};

/// Reads `quantization_config` (or `compression_config`) of the text model. Errors: kUnsupported
/// with the method that is declared and those that are known; kBadInput for a declaration that
/// contradicts itself.
Quantization quantization_of(const Config& config);

}  // namespace ft
