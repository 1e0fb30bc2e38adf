// What inspect_model() tells: a request that cannot work is refused before the weights are read.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "ft/report.h"

namespace ft {

/// Errors: kBadInput for no tokens, more than the context of a session holds, or one outside the
/// vocabulary.
void check_prompt(std::span<const int32_t> tokens, const ModelReport& model);

/// Errors: kBadInput unless a file of that name can be made: its folder is there, and it is no
/// folder itself.
void check_output_file(const std::string& option, const std::string& file);

/// Errors: kOutOfMemory if `n_bytes`, which `what` names, are more than this machine has free.
void check_memory(const std::string& what, uint64_t n_bytes);

}  // namespace ft
