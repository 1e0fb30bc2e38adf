// The architectures that this program knows: one row each.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/model.h"

namespace ft {

/// Binds a checkpoint to its architecture, by `model_type` or else `architectures`; reads headers
/// and small vectors, and leaves the bank unfilled. The checkpoint must outlive the model. Errors:
/// kUnsupported with the list of known architectures; kBadInput for anything wrong with
/// configuration or tensors.
std::unique_ptr<Model> open_model(const Checkpoint& checkpoint);

std::vector<std::string> known_architectures();

}  // namespace ft
