// Any bytes as a safetensors file: an Error or entries that lie inside the file, nothing else.
#include <cstdlib>

#include "files/safetensors.h"
#include "ft/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t n_bytes) {
  const auto file = std::as_bytes(std::span(data, n_bytes));
  try {
    uint64_t n_covered = 0;
    for (const ft::TensorEntry& entry : ft::read_safetensors(file, "fuzz")) {
      if (entry.data < file.data() || entry.data + entry.n_bytes > file.data() + n_bytes) {
        std::abort();
      }
      n_covered += entry.n_bytes;
    }
    if (n_covered > n_bytes) std::abort();
  } catch (const ft::Error&) {
  }
  return 0;
}
