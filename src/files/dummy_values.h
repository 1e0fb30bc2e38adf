// The values of made-up weights: legal in their format, and of a size with which activations neither
// vanish nor explode.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tensor/dtype.h"

namespace ft {

enum class DummyKind : uint8_t {
  kBf16,          // bf16, uniform, with a deviation of `size`
  kBf16Constant,  // bf16 `size`
  kF32Constant,   // float32 `size`
  kF32Scales,     // float32, 0.75 to 1.25 times `size`
  kE2m1Codes,     // all sixteen, two a byte
  kE4m3Codes,     // sign and magnitude random, finite
  kE4m3Scales,    // near 1
  kE8m0Scales,    // two neighbouring powers of two, `size` in root mean square
};

struct DummyValues {
  DummyKind kind = DummyKind::kBf16;
  float size = 0;

  auto operator<=>(const DummyValues&) const = default;
  bool is_constant() const {
    return kind == DummyKind::kBf16Constant || kind == DummyKind::kF32Constant;
  }
};

/// Of the codes themselves, without a scale.
float e2m1_deviation();
float e4m3_deviation();

/// Spreads the bits of `x` over 64: neighbours become strangers.
constexpr uint64_t scramble(uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

/// Fills `to` with whole values; the same seed gives the same bytes.
void write_dummy(const DummyValues& values, uint64_t seed, std::span<std::byte> to);

}  // namespace ft
