// The list of weight formats. Everything that must exist once for each format is derived from this
// line.
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tensor/formats/fp8_block.h"
#include "tensor/formats/mxfp4.h"
#include "tensor/formats/nvfp4.h"
#include "tensor/formats/plain.h"
#include "tensor/formats/q8.h"

namespace ft {

using Formats = std::tuple<F32, F16, Bf16, Fp8Block, Mxfp4, Nvfp4, Q8>;
constexpr size_t kFormats = std::tuple_size_v<Formats>;

/// A format as a value: its position in the list.
enum class FormatId : uint8_t {};

template <typename F, size_t kIndex = 0>
constexpr FormatId position_of() {
  if constexpr (std::is_same_v<F, std::tuple_element_t<kIndex, Formats>>) {
    return static_cast<FormatId>(kIndex);
  } else {
    return position_of<F, kIndex + 1>();
  }
}

template <typename F>
inline constexpr FormatId kIdOf = position_of<F>();

/// Calls `function` with a value of the format's type. The only dispatch over formats in the
/// program.
template <size_t kIndex = 0, typename Function>
FT_INLINE auto visit_format(FormatId id, Function&& function) {
  if constexpr (kIndex + 1 < kFormats) {
    if (static_cast<size_t>(id) != kIndex)
      return visit_format<kIndex + 1>(id, std::forward<Function>(function));
  }
  return function(std::tuple_element_t<kIndex, Formats>{});
}

inline std::string_view name_of(FormatId id) {
  return visit_format(id, [](auto format) { return std::string_view(decltype(format)::kName); });
}

}  // namespace ft
