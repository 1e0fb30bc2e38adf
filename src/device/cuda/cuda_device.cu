// The cards that the CUDA runtime shows. The runtime is linked statically and looks for the driver
// when it is first called, so that the program also starts where there is none.
#include <cuda_runtime.h>

#include <cstddef>
#include <string>
#include <vector>

#include "device/cuda_device.h"

namespace ft {
namespace {

/// False, with the reason, for a call that failed.
bool is_ok(cudaError_t error, const char* call, std::string& why) {
  if (error == cudaSuccess) return true;
  why = std::string(call) + ": " + cudaGetErrorString(error);
  (void)cudaGetLastError();  // the error is told; it must not turn up at a later call
  return false;
}

/// As nvidia-smi spells it: "GPU-1faa9c36-0a77-...".
std::string uuid_text(const cudaUUID_t& uuid) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "GPU";
  for (size_t i = 0; i < sizeof uuid.bytes; ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::vector<GpuReport> list_cards(std::string& why_none) {
  why_none.clear();
  int n_cards = 0;
  std::vector<GpuReport> cards;
  if (!is_ok(cudaGetDeviceCount(&n_cards), "cudaGetDeviceCount", why_none)) return cards;
  if (n_cards == 0) why_none = "the driver shows no card";
  for (int i = 0; i < n_cards; ++i) {
    cudaDeviceProp card{};
    if (!is_ok(cudaGetDeviceProperties(&card, i), "cudaGetDeviceProperties", why_none)) continue;
    cards.push_back(
        {.name = card.name,
         .uuid = uuid_text(card.uuid),
         .memory_bytes = card.totalGlobalMem,
         .compute_capability = std::to_string(card.major) + "." + std::to_string(card.minor)});
  }
  if (!cards.empty()) why_none.clear();
  return cards;
}

constexpr DeviceApi kApi{.list = list_cards};

}  // namespace

const DeviceApi* cuda_device() {
  return &kApi;
}

}  // namespace ft
