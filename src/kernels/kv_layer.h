// Where one layer's keys and values lie. Both are stored in panels, the form in which attention
// multiplies them: a panel is 16 lanes wide, and a sum runs along its steps.
#pragma once

#include <cstdint>

#include "base/inline.h"
#include "ft/kv_dtype.h"

namespace ft {

constexpr int64_t kPageTokens = 64;
constexpr int64_t kPanelLanes = 16;

/// A page holds kPageTokens positions of every head: for each head its keys, then its values unless
/// these are the first d_v of a key. Keys are panels of 16 positions, a step for each of d_k;
/// values are panels of 16 of d_v, a step for each position. Two steps lie together, lane by lane
/// ([step / 2][lane][step % 2]), in float32 one after the other ([step][lane]). Behind the panels
/// of fp8 stands a float32 scale for each position. Widths are filled up: d_k to 2, d_v to 16.
struct KvLayer {
  uint8_t* pages = nullptr;
  int64_t page_bytes = 0;  // distance between pages of this layer: kv_page_bytes()
  int64_t n_kv_heads = 0;
  int64_t d_k = 0;
  int64_t d_v = 0;
  bool values_in_keys = false;
  KvDType dtype = KvDType::kBF16;
};

FT_INLINE constexpr int64_t kv_element_bytes(KvDType dtype) {
  return dtype == KvDType::kF32 ? 4 : (dtype == KvDType::kBF16 ? 2 : 1);
}

FT_INLINE constexpr int64_t key_width(const KvLayer& kv) {
  return (kv.d_k + 1) / 2 * 2;
}

FT_INLINE constexpr int64_t value_width(const KvLayer& kv) {
  return (kv.d_v + kPanelLanes - 1) / kPanelLanes * kPanelLanes;
}

/// Bytes of one head's panels of `width` in a page, and with the scales behind them.
FT_INLINE constexpr int64_t panels_bytes(const KvLayer& kv, int64_t width) {
  return kPageTokens * width * kv_element_bytes(kv.dtype);
}
FT_INLINE constexpr int64_t with_scales(const KvLayer& kv, int64_t panel_bytes) {
  return panel_bytes + (kv.dtype == KvDType::kFp8 ? kPageTokens * 4 : 0);
}

FT_INLINE constexpr int64_t key_bytes(const KvLayer& kv) {
  return with_scales(kv, panels_bytes(kv, key_width(kv)));
}

FT_INLINE constexpr int64_t value_bytes(const KvLayer& kv) {
  return kv.values_in_keys ? 0 : with_scales(kv, panels_bytes(kv, value_width(kv)));
}

/// What a page of a layer of this shape takes.
FT_INLINE constexpr int64_t kv_page_bytes(const KvLayer& kv) {
  return kv.n_kv_heads * (key_bytes(kv) + value_bytes(kv));
}

}  // namespace ft
