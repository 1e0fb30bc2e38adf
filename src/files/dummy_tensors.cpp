#include "files/dummy_tensors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>

#include <fmt/ranges.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/team.h"
#include "tensor/weight.h"

namespace ft {
namespace {

using Scheme = Quantization::Scheme;
using Dialect = Quantization::Dialect;

constexpr size_t kPage = 4096;
// A prime number of pages, about 4 MiB: rows and experts of usual sizes are no multiples of it.
constexpr size_t kPoolBytes = 1021 * kPage;
// A file bounds what its configuration can ask for; here these do.
constexpr uint64_t kMostMatrices = 1 << 20;
constexpr uint64_t kMostStackBytes = uint64_t{1} << 42;
constexpr uint64_t kMostDenseBytes = uint64_t{1} << 36;  // of one tensor
constexpr uint64_t kMostWrittenBytes = 256 << 20;        // before the load, of all
constexpr float kSmall = 0.02f;                          // biases and sinks

uint64_t hash_of(std::string_view text, uint64_t seed) {
  uint64_t hash = scramble(seed);
  for (const char c : text) hash = scramble(hash ^ static_cast<uint8_t>(c));
  return hash;
}

float deviation_of(int64_t cols) {
  return 1.0f / std::sqrt(static_cast<float>(std::max<int64_t>(cols, 1)));
}

std::string_view last_component(std::string_view module) {
  return module.substr(module.find_last_of('.') + 1);
}

}  // namespace

DummyTensors::DummyTensors(const Config& config, uint64_t seed, std::string where)
    : quantization_(quantization_of(config)),
      is_tied_(config.text_model().flag({"tie_word_embeddings"}, false)),
      seed_(seed),
      where_(std::move(where)) {}

bool DummyTensors::keeps_type(const std::string& module, bool is_expert) const {
  if (quantization_.is_ignored(module)) return true;
  constexpr std::array<std::string_view, 5> kNeverConverted = {"embed_tokens", "lm_head", "gate",
                                                               "router", "shared_expert_gate"};
  return !is_expert && std::find(kNeverConverted.begin(), kNeverConverted.end(),
                                 last_component(module)) != kNeverConverted.end();
}

void DummyTensors::want_matrix(const std::string& module, int64_t rows, int64_t cols,
                               bool is_expert) {
  const Place place = is_expert ? Place::kShared : Place::kLater;
  const std::string weight = module + ".weight";
  const float size = deviation_of(cols);
  if (keeps_type(module, is_expert)) {
    // A row of the embedding is taken as it is: were it much smaller than what layers add to it, all
    // tokens would choose the same experts.
    const bool is_table = last_component(module) == "embed_tokens" && !is_tied_;
    return add(
        {weight, DType::kBF16, {rows, cols}, {DummyKind::kBf16, is_table ? 1 : size}, place});
  }
  switch (quantization_.scheme) {
    case Scheme::kFp8Block:
      add({weight, DType::kF8E4M3, {rows, cols}, {DummyKind::kE4m3Codes}, place});
      return add({module + ".weight_scale_inv",
                  DType::kF32,
                  {scale_rows_of(kIdOf<Fp8Block>, rows), blocks_of(kIdOf<Fp8Block>, cols)},
                  {DummyKind::kF32Scales, size / e4m3_deviation()},
                  is_expert ? Place::kShared : Place::kNow});
    case Scheme::kNvfp4:
      return add_packed(module, {rows, cols}, size, place);
    case Scheme::kMxfp4:
      add({weight, DType::kI8, {rows, cols / 2}, {DummyKind::kE2m1Codes}, place});
      return add({module + ".scale",
                  DType::kF8E8M0,
                  {rows, cols / Mxfp4::kBlock},
                  {DummyKind::kE8m0Scales, size / e2m1_deviation()},
                  place});
    case Scheme::kNone:
      break;  // keeps_type
  }
}

/// The tensors of nvfp4. shape: [rows, cols]
void DummyTensors::add_packed(const std::string& module, const std::vector<int64_t>& shape,
                              float size, Place place) {
  const bool is_reciprocal = quantization_.dialect == Dialect::kCompressedTensors;
  const float factor = size / e2m1_deviation();
  add({module + (is_reciprocal ? ".weight_packed" : ".weight"),
       DType::kU8,
       {shape[0], shape[1] / 2},
       {DummyKind::kE2m1Codes},
       place});
  add({module + ".weight_scale",
       DType::kF8E4M3,
       {shape[0], shape[1] / Nvfp4::kBlock},
       {DummyKind::kE4m3Scales},
       place});
  add({module + (is_reciprocal ? ".weight_global_scale" : ".weight_scale_2"),
       DType::kF32,
       {},
       {DummyKind::kF32Constant, is_reciprocal ? 1 / factor : factor},
       Place::kShared});
}

void DummyTensors::want_stack(const std::string& base, int64_t n_experts, int64_t n_rows,
                              int64_t cols) {
  if (tensors_.contains(base + "_bias")) return;
  count_matrices(static_cast<uint64_t>(n_experts));
  const float size = deviation_of(cols);
  add({base + "_bias",
       DType::kBF16,
       {n_experts, n_rows},
       {DummyKind::kBf16, kSmall},
       Place::kShared});
  if (quantization_.is_ignored(base)) {
    return add(
        {base, DType::kBF16, {n_experts, cols, n_rows}, {DummyKind::kBf16, size}, Place::kShared});
  }
  if (quantization_.scheme != Scheme::kMxfp4) {
    unsupported(
        "{}: {}: experts in one tensor are known as plain numbers and as mxfp4; declare "
        "one of these in config.json",
        where_, base);
  }
  const int64_t n_blocks = cols / Mxfp4::kBlock;
  add({base + "_blocks",
       DType::kU8,
       {n_experts, n_rows, n_blocks, kChunkBytes},
       {DummyKind::kE2m1Codes},
       Place::kShared});
  add({base + "_scales",
       DType::kU8,
       {n_experts, n_rows, n_blocks},
       {DummyKind::kE8m0Scales, size / e2m1_deviation()},
       Place::kShared});
}

void DummyTensors::want_vector(const std::string& name, int64_t n) {
  const bool is_norm = name.ends_with(".weight");
  add({name,
       DType::kBF16,
       {n},
       is_norm ? DummyValues{DummyKind::kBf16Constant, 1} : DummyValues{DummyKind::kBf16, kSmall},
       Place::kNow});
}

RepeatedMemory& DummyTensors::pool(const DummyValues& values) {
  const auto found = pools_.find(values);
  if (found != pools_.end()) return found->second;
  const size_t period = values.is_constant() ? kPage : kPoolBytes;
  RepeatedMemory& memory = pools_.try_emplace(values, period).first->second;
  const auto kind = static_cast<uint64_t>(values.kind);
  write_dummy(values, scramble(seed_ ^ scramble(kind)), {memory.data(), period});
  return memory;
}

uint64_t DummyTensors::bytes_of_wish(const Wish& wish) const {
  std::optional<uint64_t> n_bytes = size_of(wish.dtype);
  for (const int64_t extent : wish.shape) {
    if (n_bytes) n_bytes = checked_mul(*n_bytes, static_cast<uint64_t>(extent));
  }
  const uint64_t most = wish.place == Place::kShared  ? kMostStackBytes
                        : wish.place == Place::kLater ? kMostDenseBytes
                                                      : kMostWrittenBytes - written_bytes_;
  if (n_bytes && *n_bytes <= most) return *n_bytes;
  fail(ErrorKind::kOutOfMemory, "{}: {}: sizes [{}] are more than a dummy may have", where_,
       wish.name, fmt::join(wish.shape, ", "));
}

/// Errors: kOutOfMemory above what any model has.
void DummyTensors::count_matrices(uint64_t n) {
  n_matrices_ += n;
  if (n_matrices_ <= kMostMatrices) return;
  fail(ErrorKind::kOutOfMemory, "{}: the configuration asks for more than {} matrices", where_,
       kMostMatrices);
}

void DummyTensors::add(Wish wish) {
  if (tensors_.contains(wish.name)) return;
  count_matrices(1);
  const uint64_t n_bytes = bytes_of_wish(wish);
  const uint64_t seed = hash_of(wish.name, seed_);
  TensorEntry entry = {.name = wish.name,
                       .dtype = wish.dtype,
                       .shape = std::move(wish.shape),
                       .n_bytes = n_bytes,
                       .file = where_ + " (made up)"};
  if (wish.place == Place::kShared) {
    RepeatedMemory& memory = pool(wish.values);
    const uint64_t offset = seed % (memory.period() / 16) * 16;  // whole values of any type
    entry.data = memory.view(offset + n_bytes) + offset;
  } else {
    own_bytes_ += n_bytes;
    const bool is_now = wish.place == Place::kNow;
    std::byte* const data = (is_now ? written_ : unwritten_).take(n_bytes);
    entry.data = data;
    if (is_now) {
      written_bytes_ += n_bytes;
      write_dummy(wish.values, seed, {data, n_bytes});
    } else {
      later_.push_back({data, n_bytes, wish.values, seed});
    }
  }
  n_bytes_ += n_bytes;
  tensors_.emplace(std::move(wish.name), std::move(entry));
}

const TensorEntry* DummyTensors::find(std::string_view name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

void DummyTensors::fill(Team& team) {
  constexpr uint64_t kGrain = 1 << 20;
  // Copied in pieces from random places of a pool: as fast as memory is written.
  for (const Later& tensor : later_) {
    const std::byte* const from = pool(tensor.values).view(kPoolBytes + kPage);
    const auto n_grains = static_cast<int64_t>((tensor.n_bytes + kGrain - 1) / kGrain);
    team.run(n_grains, 1, [&](int64_t begin, int64_t end, int) {
      const uint64_t last = std::min(static_cast<uint64_t>(end) * kGrain, tensor.n_bytes);
      for (uint64_t at = static_cast<uint64_t>(begin) * kGrain; at < last; at += kPage) {
        const uint64_t offset = scramble(tensor.seed + at) % (kPoolBytes / 16) * 16;
        std::memcpy(tensor.data + at, from + offset, std::min<uint64_t>(kPage, last - at));
      }
    });
  }
  later_.clear();
}

void DummyTensors::drop_experts() {
  pools_.clear();
}

}  // namespace ft
