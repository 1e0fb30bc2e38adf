// The door to CUDA. The file that is linked decides: no_cuda.cpp returns nullptr,
// cuda/cuda_device.cu the real table.
#pragma once

#include <string>
#include <vector>

#include "ft/report.h"

namespace ft {

struct DeviceApi {
  /// The cards that the driver shows; empty, with a reason in `why_none`, where there is no driver
  /// or no card.
  std::vector<GpuReport> (*list)(std::string& why_none);
};

/// nullptr in a build without CUDA.
const DeviceApi* cuda_device();

}  // namespace ft
