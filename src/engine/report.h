// Facts about a model for people and programs.
#pragma once

#include <memory>

#include "engine/placement.h"
#include "files/checkpoint.h"
#include "ft/engine.h"

namespace ft {

/// Opens a model with the KV type that the options ask for.
std::unique_ptr<Model> open_with(const Checkpoint& checkpoint, const EngineOptions& options);

Placement plan(const Model& model, const EngineOptions& options, int n_threads);

ModelReport report_of(const Model& model, const Checkpoint& checkpoint, const Placement& placement);

}  // namespace ft
