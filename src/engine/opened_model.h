// A checkpoint bound to its architecture with its placement planned; nothing allocated yet.
#pragma once

#include <memory>

#include "engine/placement.h"
#include "files/checkpoint.h"
#include "ft/engine.h"

namespace ft {

struct OpenedModel {
  std::unique_ptr<Checkpoint> checkpoint;  // the model borrows from it
  std::unique_ptr<Model> model;
  Placement placement;
};

/// Errors: those of Checkpoint::open(), open_model() and plan_placement().
OpenedModel open_planned(const EngineOptions& options, int n_threads);

ModelReport report_of(const OpenedModel& opened);

}  // namespace ft
