// Writing tensors to a safetensors file, whole or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace ft {

/// A tensor to be written: the values are borrowed, row-major.
struct NamedTensor {
  std::string name;
  std::vector<int64_t> shape;
  std::variant<std::span<const float>, std::span<const int64_t>> values;
};

/// Writes `file` through a temporary file beside it, which is flushed to the disk and then takes
/// the name: a reader sees the old file or the new one. Errors: kBadInput for a shape that disagrees
/// with its values, for two tensors of one name and for a name that is not UTF-8; kIo with the file
/// and the reason; the temporary file is removed.
void write_safetensors(const std::filesystem::path& file, std::span<const NamedTensor> tensors);

}  // namespace ft
