#include "files/dummy_values.h"

#include <cmath>
#include <cstring>

#include "tensor/numeric.h"

namespace ft {
namespace {

// Magnitudes 0.125 to 1.875: over all codes of e4m3 a few large ones would make up the whole sum.
constexpr uint8_t kLeastE4m3 = 0x20;
constexpr uint8_t kE4m3Bits = 0x1F;

float uniform(uint64_t random) {  // -1 to 1
  return static_cast<float>(static_cast<int32_t>(random >> 32)) * 0x1p-31f;
}

/// `value(random)` for each element of type T.
template <typename T, typename Value>
void write_each(uint64_t seed, std::span<std::byte> to, Value&& value) {
  for (size_t i = 0; i + sizeof(T) <= to.size(); i += sizeof(T)) {
    const T element = value(scramble(seed + i));
    std::memcpy(to.data() + i, &element, sizeof(T));
  }
}

void write_e8m0(float size, uint64_t seed, std::span<std::byte> to) {
  int exponent = 0;
  const float mantissa = 2 * std::frexp(size, &exponent);  // size = mantissa * 2^(exponent - 1)
  const auto low = static_cast<uint8_t>(127 + exponent - 1);
  // So many of them are twice as large that the mean square is that of `size`.
  const auto share = static_cast<uint64_t>((mantissa * mantissa - 1) / 3 * 256);
  write_each<uint8_t>(seed, to, [&](uint64_t random) {
    return static_cast<uint8_t>(low + ((random & 255) < share ? 1 : 0));
  });
}

}  // namespace

float e2m1_deviation() {
  float sum = 0;
  for (uint8_t code = 0; code < 16; ++code) {
    const float value = 0.5f * static_cast<float>(e2m1_doubled(code));
    sum += value * value;
  }
  return std::sqrt(sum / 16);
}

float e4m3_deviation() {
  float sum = 0;
  for (uint8_t bits = 0; bits <= kE4m3Bits; ++bits) {
    const float value = e4m3_to_f32(static_cast<uint8_t>(kLeastE4m3 | bits));
    sum += value * value;
  }
  return std::sqrt(sum / (kE4m3Bits + 1));
}

void write_dummy(const DummyValues& values, uint64_t seed, std::span<std::byte> to) {
  const float size = values.size;
  switch (values.kind) {
    case DummyKind::kBf16:
      return write_each<uint16_t>(seed, to, [&](uint64_t random) {
        return f32_to_bf16(size * std::sqrt(3.0f) * uniform(random));
      });
    case DummyKind::kBf16Constant:
      return write_each<uint16_t>(seed, to, [&](uint64_t) { return f32_to_bf16(size); });
    case DummyKind::kF32Constant:
      return write_each<float>(seed, to, [&](uint64_t) { return size; });
    case DummyKind::kF32Scales:
      return write_each<float>(seed, to,
                               [&](uint64_t random) { return size * (1 + uniform(random) / 4); });
    case DummyKind::kE2m1Codes:
      return write_each<uint8_t>(seed, to,
                                 [](uint64_t random) { return static_cast<uint8_t>(random); });
    case DummyKind::kE4m3Codes:
      return write_each<uint8_t>(seed, to, [](uint64_t random) {
        return static_cast<uint8_t>(kLeastE4m3 | (random & (0x80 | kE4m3Bits)));
      });
    case DummyKind::kE4m3Scales:  // 0.75 to 1.375
      return write_each<uint8_t>(
          seed, to, [](uint64_t random) { return static_cast<uint8_t>(0x34 + (random & 7)); });
    case DummyKind::kE8m0Scales:
      return write_e8m0(size, seed, to);
  }
}

}  // namespace ft
