#include "tensor/dtype.h"

#include <array>

#include "base/check.h"

namespace ft {
namespace {

struct Row {
  DType dtype;
  std::string_view name;
  size_t n_bytes;
};

constexpr std::array<Row, 16> kRows = {{
    {DType::kF64, "F64", 8},
    {DType::kF32, "F32", 4},
    {DType::kF16, "F16", 2},
    {DType::kBF16, "BF16", 2},
    {DType::kF8E4M3, "F8_E4M3", 1},
    {DType::kF8E5M2, "F8_E5M2", 1},
    {DType::kF8E8M0, "F8_E8M0", 1},
    {DType::kI64, "I64", 8},
    {DType::kI32, "I32", 4},
    {DType::kI16, "I16", 2},
    {DType::kI8, "I8", 1},
    {DType::kU64, "U64", 8},
    {DType::kU32, "U32", 4},
    {DType::kU16, "U16", 2},
    {DType::kU8, "U8", 1},
    {DType::kBool, "BOOL", 1},
}};

const Row& row_of(DType dtype) {
  for (const Row& row : kRows) {
    if (row.dtype == dtype) return row;
  }
  FT_CHECK(false, "a dtype without a row");
}

}  // namespace

size_t size_of(DType dtype) {
  return row_of(dtype).n_bytes;
}

std::string_view name_of(DType dtype) {
  return row_of(dtype).name;
}

std::optional<DType> dtype_named(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

}  // namespace ft
