// The reports of the gate as JSON objects, one spelling for all commands.
#pragma once

#include <string>

#include "ft/report.h"

namespace ft {

/// Every field under its own name; sizes in bytes. A text, because headers do not name the JSON
/// library.
std::string report_json(const ModelReport& model);
std::string report_json(const MachineReport& machine);

}  // namespace ft
