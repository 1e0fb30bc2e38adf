// Linked instead of cuda/cuda_device.cu in a build without CUDA.
#include "device/cuda_device.h"

namespace ft {

const DeviceApi* cuda_device() {
  return nullptr;
}

}  // namespace ft
