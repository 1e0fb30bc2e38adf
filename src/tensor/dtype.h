// Element types as checkpoints name them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ft {

enum class DType : uint8_t {
  kF64,
  kF32,
  kF16,
  kBF16,
  kF8E4M3,
  kF8E5M2,
  kF8E8M0,
  kI64,
  kI32,
  kI16,
  kI8,
  kU64,
  kU32,
  kU16,
  kU8,
  kBool,
};

/// Bytes of one element.
size_t size_of(DType dtype);

/// The name that safetensors uses: "F32", "BF16", "F8_E4M3", "F8_E8M0", "U8", ...
std::string_view name_of(DType dtype);

/// The inverse of name_of; nothing for a name that is not known.
std::optional<DType> dtype_named(std::string_view name);

}  // namespace ft
