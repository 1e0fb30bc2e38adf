#include "files/weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "base/error.h"
#include "base/printable.h"
#include "files/dummy_tensors.h"

namespace ft {
namespace {

const uint8_t* bytes(const TensorEntry& tensor) {
  return reinterpret_cast<const uint8_t*>(tensor.data);
}

std::string shape_text(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

[[noreturn]] void bad_tensor(const TensorEntry& tensor, const std::string& what) {
  bad_input("{}: tensor {} ({} {}) {}", tensor.file, tensor.name, name_of(tensor.dtype),
            shape_text(tensor.shape), what);
}

// Kernels read scales a vector at a time.
constexpr size_t kReadableScales = 16;

bool is_float(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16;
}

FormatId plain_format(const TensorEntry& tensor) {
  switch (tensor.dtype) {
    case DType::kF32:
      return kIdOf<F32>;
    case DType::kF16:
      return kIdOf<F16>;
    case DType::kBF16:
      return kIdOf<Bf16>;
    default:
      bad_tensor(
          tensor,
          "is not of a weight type that is known here: F32, F16, BF16, F8_E4M3 or packed 4 bit");
  }
}

[[noreturn]] void bad_scale(const TensorEntry& tensor, const uint8_t* at) {
  int64_t left = (at - bytes(tensor)) / static_cast<int64_t>(size_of(tensor.dtype));
  std::vector<int64_t> index(tensor.shape.size());
  for (size_t i = index.size(); i-- > 0; left /= tensor.shape[i]) index[i] = left % tensor.shape[i];
  bad_tensor(tensor, fmt::format("has at {} a scale that is NaN, infinite or negative; the file is "
                                 "damaged, fetch it again",
                                 shape_text(index)));
}

}  // namespace

int64_t MatrixSource::span_bytes() const {
  const int64_t row_bytes = value_step == 0 ? row_bytes_of(format, cols)
                                            : (cols - 1) * value_step + row_bytes_of(format, 1);
  return (rows - 1) * row_step + row_bytes;
}

Weights::Weights(const Checkpoint& checkpoint)
    : checkpoint_(checkpoint), quantization_(quantization_of(checkpoint.config())) {}

const TensorEntry& Weights::read(const std::string& name, const std::vector<int64_t>& shape) {
  const TensorEntry& tensor = checkpoint_.at(name);
  if (tensor.shape != shape)
    bad_tensor(tensor, fmt::format("should have shape {}", shape_text(shape)));
  read_.insert(name);
  return tensor;
}

float Weights::scalar(const std::string& name) {
  const TensorEntry& tensor = checkpoint_.at(name);
  const bool is_one = tensor.shape.empty() || (tensor.shape.size() == 1 && tensor.shape[0] == 1);
  if (!is_one || !is_float(tensor.dtype)) bad_tensor(tensor, "should be one floating-point number");
  read_.insert(name);
  const float value =
      value_at({.name = name, .data = bytes(tensor), .dtype = tensor.dtype, .step = 0}, 0);
  if (!std::isfinite(value) || value <= 0)
    bad_tensor(tensor, fmt::format("is {}, not a positive scale", value));
  return value;
}

MatrixSource Weights::find_fp8(const std::string& module, const TensorEntry& weight, int64_t rows,
                               int64_t cols) {
  const std::string name = has(module + ".weight_scale_inv") ? module + ".weight_scale_inv"
                           : has(module + ".scale")          ? module + ".scale"
                                                             : module + ".weight_scale_inv";
  const int64_t n_cols = blocks_of(kIdOf<Fp8Block>, cols);
  const TensorEntry& scale = read(name, {scale_rows_of(kIdOf<Fp8Block>, rows), n_cols});
  if (!is_float(scale.dtype) && scale.dtype != DType::kF8E8M0)
    bad_tensor(scale, "should be F32, F16, BF16 or F8_E8M0");
  return {.name = weight.name,
          .format = kIdOf<Fp8Block>,
          .rows = rows,
          .cols = cols,
          .codes = bytes(weight),
          .row_step = cols,
          .scales = bytes(scale),
          .scale_tensor = &scale,
          .scale_step = n_cols * static_cast<int64_t>(size_of(scale.dtype))};
}

MatrixSource Weights::find_nvfp4(const std::string& module, const TensorEntry& weight, int64_t rows,
                                 int64_t cols) {
  if (cols % Nvfp4::kBlock != 0)
    bad_tensor(weight, fmt::format("has {} columns, not a multiple of {}", cols, Nvfp4::kBlock));
  const TensorEntry& scale = read(module + ".weight_scale", {rows, cols / Nvfp4::kBlock});
  if (scale.dtype != DType::kF8E4M3) bad_tensor(scale, "should be F8_E4M3");
  const bool is_reciprocal = quantization_.dialect == Quantization::Dialect::kCompressedTensors;
  const std::string name = module + (is_reciprocal ? ".weight_global_scale" : ".weight_scale_2");
  const float factor = is_reciprocal ? 1.0f / scalar(name) : scalar(name);
  if (!std::isfinite(factor)) bad_tensor(checkpoint_.at(name), "is too small to be divided by");
  return {.name = weight.name,
          .format = kIdOf<Nvfp4>,
          .rows = rows,
          .cols = cols,
          .codes = bytes(weight),
          .row_step = cols / 2,
          .scales = bytes(scale),
          .scale_tensor = &scale,
          .scale_step = cols / Nvfp4::kBlock,
          .factor = factor};
}

MatrixSource Weights::find_mxfp4(const std::string& module, const TensorEntry& weight, int64_t rows,
                                 int64_t cols) {
  if (cols % Mxfp4::kBlock != 0)
    bad_tensor(weight, fmt::format("has {} columns, not a multiple of {}", cols, Mxfp4::kBlock));
  const TensorEntry& scale = read(module + ".scale", {rows, cols / Mxfp4::kBlock});
  if (scale.dtype != DType::kF8E8M0) bad_tensor(scale, "should be F8_E8M0");
  return {.name = weight.name,
          .format = kIdOf<Mxfp4>,
          .rows = rows,
          .cols = cols,
          .codes = bytes(weight),
          .row_step = cols / 2,
          .scales = bytes(scale),
          .scale_tensor = &scale,
          .scale_step = cols / Mxfp4::kBlock};
}

MatrixSource Weights::find(const std::string& module, int64_t rows, int64_t cols, bool is_expert) {
  if (DummyTensors* dummy = checkpoint_.dummy()) dummy->want_matrix(module, rows, cols, is_expert);
  // compressed-tensors names packed weights differently, others keep the plain name.
  const bool may_be_packed = quantization_.dialect == Quantization::Dialect::kCompressedTensors;
  const std::string packed = module + ".weight_packed";
  const std::string name = may_be_packed && has(packed) ? packed : module + ".weight";
  const DType dtype = checkpoint_.at(name).dtype;
  const bool is_packed = dtype == DType::kU8 || dtype == DType::kI8;
  const TensorEntry& weight = read(name, {rows, is_packed ? cols / 2 : cols});
  if (dtype == DType::kF8E4M3) return find_fp8(module, weight, rows, cols);
  if (dtype == DType::kU8) return find_nvfp4(module, weight, rows, cols);
  if (dtype == DType::kI8) return find_mxfp4(module, weight, rows, cols);
  return {.name = name,
          .format = plain_format(weight),
          .rows = rows,
          .cols = cols,
          .codes = bytes(weight),
          .row_step = cols * static_cast<int64_t>(size_of(dtype))};
}

void Weights::check_scheme(const std::string& module, FormatId format, bool is_expert) const {
  using Scheme = Quantization::Scheme;
  const Scheme scheme = quantization_.scheme;
  if (is_plain(format)) {
    // Published configurations do not list every module that keeps its type, but experts are what
    // quantisation is for.
    const bool is_free = scheme == Scheme::kNone || !is_expert || quantization_.is_ignored(module);
    if (is_free) return;
  }
  const bool fits =
      (scheme == Scheme::kFp8Block && (format == kIdOf<Fp8Block> || format == kIdOf<Mxfp4>)) ||
      (scheme == Scheme::kNvfp4 && format == kIdOf<Nvfp4>) ||
      (scheme == Scheme::kMxfp4 && format == kIdOf<Mxfp4>);
  if (fits && !quantization_.is_ignored(module)) return;
  constexpr std::string_view kNames[] = {"no quantisation", "fp8 in blocks", "nvfp4", "mxfp4"};
  bad_input(
      "{}: {} is stored as {}, but the configuration declares {}{}; the file and its config.json "
      "do not belong together",
      checkpoint_.folder().string(), module, name_of(format), kNames[static_cast<int>(scheme)],
      scheme != Scheme::kNone && quantization_.is_ignored(module) ? " and excepts this module"
                                                                  : "");
}

WeightView Weights::dense(const std::string& module, int64_t rows, int64_t cols) {
  const MatrixSource source = find(module, rows, cols, false);
  check_scheme(module, source.format, false);
  WeightView view = {.format = source.format,
                     .rows = rows,
                     .cols = cols,
                     .codes = source.codes,
                     .row_bytes = source.row_step,
                     .factor = source.factor};
  if (source.scales != nullptr) {
    view.scale_row_bytes = blocks_of(source.format, cols) * scale_bytes_of(source.format);
    const auto n_bytes =
        static_cast<size_t>(scale_rows_of(source.format, rows) * view.scale_row_bytes);
    std::vector<float> scales(n_bytes / sizeof(float) + kReadableScales);
    copy_scales(source, reinterpret_cast<uint8_t*>(scales.data()));
    // Byte scales are read where they are mapped: only checked here.
    view.scales = scale_bytes_of(source.format) == 1
                      ? source.scales
                      : reinterpret_cast<const uint8_t*>(keep(std::move(scales)));
  }
  count(view.format, rows * cols, bytes_of(view));
  return view;
}

MatrixSource Weights::expert(const std::string& module, int64_t rows, int64_t cols) {
  MatrixSource source = find(module, rows, cols, true);
  check_scheme(module, source.format, true);
  return source;
}

MatrixSource Weights::stacked_expert(const std::string& base, const StackedRows& which,
                                     int64_t rows, int64_t cols) {
  MatrixSource source = {.rows = rows, .cols = cols};
  if (DummyTensors* dummy = checkpoint_.dummy()) {
    dummy->want_stack(base, which.n_experts, which.n_rows, cols);
  }
  if (has(base + "_blocks")) {
    if (cols % Mxfp4::kBlock != 0)
      bad_input("{}_blocks: {} columns, not a multiple of {}", base, cols, Mxfp4::kBlock);
    const int64_t n_blocks = cols / Mxfp4::kBlock;
    const TensorEntry& blocks =
        read(base + "_blocks", {which.n_experts, which.n_rows, n_blocks, kChunkBytes});
    const TensorEntry& scales = read(base + "_scales", {which.n_experts, which.n_rows, n_blocks});
    if (blocks.dtype != DType::kU8) bad_tensor(blocks, "should be U8");
    if (scales.dtype != DType::kU8 && scales.dtype != DType::kF8E8M0)
      bad_tensor(scales, "should be U8 or F8_E8M0");
    const int64_t row = which.expert * which.n_rows + which.first_row;
    source.name = blocks.name;
    source.format = kIdOf<Mxfp4>;
    source.codes = bytes(blocks) + row * n_blocks * kChunkBytes;
    source.row_step = which.row_step * n_blocks * kChunkBytes;
    source.scales = bytes(scales) + row * n_blocks;
    source.scale_tensor = &scales;
    source.scale_step = which.row_step * n_blocks;
  } else {
    const TensorEntry& all = read(base, {which.n_experts, cols, which.n_rows});
    const auto size = static_cast<int64_t>(size_of(all.dtype));
    source.name = all.name;
    source.format = plain_format(all);
    source.codes = bytes(all) + (which.expert * cols * which.n_rows + which.first_row) * size;
    source.row_step = which.row_step * size;
    source.value_step = which.n_rows * size;
  }
  check_scheme(base, source.format, true);
  const TensorEntry& bias = read(base + "_bias", {which.n_experts, which.n_rows});
  if (!is_float(bias.dtype)) bad_tensor(bias, "should be F32, F16 or BF16");
  const auto size = static_cast<int64_t>(size_of(bias.dtype));
  source.bias = {.name = bias.name,
                 .data = bytes(bias) + (which.expert * which.n_rows + which.first_row) * size,
                 .dtype = bias.dtype,
                 .step = which.row_step * size};
  return source;
}

const float* Weights::vector(const std::string& name, int64_t n) {
  if (DummyTensors* dummy = checkpoint_.dummy()) dummy->want_vector(name, n);
  const TensorEntry& tensor = read(name, {n});
  if (!is_float(tensor.dtype)) bad_tensor(tensor, "should be F32, F16 or BF16");
  count(plain_format(tensor), n, tensor.n_bytes);
  const VectorSource source = {.name = name,
                               .data = bytes(tensor),
                               .dtype = tensor.dtype,
                               .step = static_cast<int64_t>(size_of(tensor.dtype))};
  std::vector<float> values(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) values[static_cast<size_t>(i)] = finite_at(source, i);
  return keep(std::move(values));
}

void Weights::count(FormatId format, int64_t n_values, uint64_t n_bytes) {
  Tally& tally = tally_[format];
  tally.n_values += static_cast<uint64_t>(n_values);
  tally.n_bytes += n_bytes;
}

const float* Weights::keep(std::vector<float> values) {
  copied_bytes_ += values.size() * sizeof(float);
  kept_.push_back(std::move(values));
  return kept_.back().data();
}

void Weights::ignore(std::string_view name) {
  ignored_.emplace_back(name);
}

void Weights::check_all_read() const {
  const auto is_ignored = [&](const std::string& name) {
    for (const char* suffix :
         {".inv_freq", ".input_scale", ".input_global_scale", ".k_scale", ".v_scale"}) {
      if (name.ends_with(suffix)) return true;
    }
    return std::any_of(ignored_.begin(), ignored_.end(), [&](const std::string& pattern) {
      return pattern.ends_with('*')
                 ? name.starts_with(std::string_view(pattern).substr(0, pattern.size() - 1))
                 : name == pattern;
    });
  };
  std::vector<std::string> unread;
  for (const TensorEntry& tensor : checkpoint_.tensors()) {
    if (!read_.contains(tensor.name) && !is_ignored(tensor.name))
      unread.push_back(printable(tensor.name));
  }
  if (unread.empty()) return;
  const size_t n_shown = std::min<size_t>(unread.size(), 5);
  bad_input(
      "{}: {} tensors belong to no part of this architecture, so its result would be wrong without "
      "them: {}{}",
      checkpoint_.folder().string(), unread.size(),
      fmt::join(std::span(unread).first(n_shown), ", "), unread.size() > n_shown ? ", ..." : "");
}

float value_at(const VectorSource& source, int64_t i) {
  const uint8_t* at = source.data + i * source.step;
  switch (source.dtype) {
    case DType::kF32:
      return load<float>(at);
    case DType::kF16:
      return f16_to_f32(load<uint16_t>(at));
    case DType::kBF16:
      return bf16_to_f32(load<uint16_t>(at));
    case DType::kF8E8M0:
      return *at == 255 ? std::nanf("") : e8m0_to_f32(*at);
    default:
      bad_input("{}: {} where a float type is needed", source.name, name_of(source.dtype));
  }
}

float finite_at(const VectorSource& source, int64_t i) {
  const float value = value_at(source, i);
  if (!std::isfinite(value)) {
    bad_input("{} is {} at index {}; the file is damaged, fetch it again", source.name, value, i);
  }
  return value;
}

/// Kernels have no room for NaN in fp8: they would take it for a number.
void refuse_nan(const MatrixSource& source, const uint8_t* row) {
  if (source.format != kIdOf<Fp8Block>) return;
  bool has_nan = false;
  for (int64_t k = 0; k < source.cols; ++k) has_nan |= (row[k] & 0x7F) == 0x7F;
  if (has_nan) {
    bad_input("{} has a weight that is NaN; the file is damaged, fetch it again", source.name);
  }
}

void copy_codes(const MatrixSource& source, uint8_t* to, int64_t row_bytes) {
  const int64_t n_bytes = row_bytes_of(source.format, source.cols);
  const int64_t value_bytes = n_bytes / std::max<int64_t>(source.cols, 1);
  for (int64_t n = 0; n < source.rows; ++n) {
    uint8_t* row = to + n * row_bytes;
    const uint8_t* from = source.codes + n * source.row_step;
    if (source.value_step == 0) {
      std::memcpy(row, from, static_cast<size_t>(n_bytes));
      refuse_nan(source, row);
    } else {
      for (int64_t k = 0; k < source.cols; ++k) {
        std::memcpy(row + k * value_bytes, from + k * source.value_step,
                    static_cast<size_t>(value_bytes));
      }
    }
    std::memset(row + n_bytes, 0, static_cast<size_t>(row_bytes - n_bytes));
  }
}

void copy_scales(const MatrixSource& source, uint8_t* to) {
  const DType dtype = source.scale_tensor->dtype;
  const auto step = static_cast<int64_t>(size_of(dtype));
  const int64_t n_rows = scale_rows_of(source.format, source.rows);
  const int64_t n_blocks = blocks_of(source.format, source.cols);
  const int64_t size = scale_bytes_of(source.format);
  for (int64_t r = 0; r < n_rows; ++r) {
    const uint8_t* from = source.scales + r * source.scale_step;
    const VectorSource floats = {.data = from, .dtype = dtype, .step = step};
    for (int64_t b = 0; b < n_blocks; ++b, to += size) {
      bool is_good = true;
      if (size == 1) {
        *to = from[b];
        is_good = dtype == DType::kF8E4M3 ? from[b] < 0x7F : from[b] != 255;
      } else {
        const float value = value_at(floats, b);
        std::memcpy(to, &value, sizeof(value));
        is_good = std::isfinite(value) && value >= 0;
      }
      if (!is_good) bad_scale(*source.scale_tensor, from + b * step);
    }
  }
}

}  // namespace ft
