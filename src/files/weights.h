// A checkpoint's tensors as weights: one declarative map from the dialects of published checkpoints
// to matrices with format and scales. Keeps account of what was read, so that nothing is
// overlooked.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "files/checkpoint.h"
#include "files/quantization.h"
#include "tensor/weight.h"

namespace ft {

/// A float vector inside a tensor: element i at data + i * step.
struct VectorSource {
  std::string name = {};
  const uint8_t* data = nullptr;  // nullptr: there is none
  DType dtype = DType::kF32;
  int64_t step = 0;
};

/// A matrix as a file stores it. The values of a row are contiguous unless value_step says
/// otherwise (a transposed matrix of plain numbers).
struct MatrixSource {
  std::string name = {};  // of the tensor, for messages
  FormatId format = kIdOf<F32>;
  int64_t rows = 0;
  int64_t cols = 0;
  const uint8_t* codes = nullptr;
  int64_t row_step = 0;    // bytes between rows
  int64_t value_step = 0;  // bytes between values of a row; 0: packed
  const uint8_t* scales = nullptr;
  const TensorEntry* scale_tensor = nullptr;  // into which `scales` points
  int64_t scale_step = 0;                     // bytes between rows of scales
  float factor = 1;
  VectorSource bias = {};

  /// Bytes from the first code to the end of the last, with what lies between them.
  int64_t span_bytes() const;
};

/// One matrix of a tensor that holds all experts of a layer, possibly two of them in turn:
/// row n of the matrix is row first_row + n * row_step of the expert's n_rows rows.
struct StackedRows {
  int64_t n_experts = 0;
  int64_t expert = 0;
  int64_t n_rows = 0;
  int64_t first_row = 0;
  int64_t row_step = 1;
};

class Weights {
 public:
  /// Errors: those of quantization_of().
  explicit Weights(const Checkpoint& checkpoint);

  const Checkpoint& checkpoint() const { return checkpoint_; }
  bool has(std::string_view name) const { return checkpoint_.find(name) != nullptr; }

  /// y = W x of a dense module, `<module>.weight` with its scales in whatever dialect. The view
  /// borrows mapped bytes, or scales kept here. Errors: a tensor that is missing, of the wrong
  /// shape or type, at odds with the declared scheme, or with a scale that is NaN, infinite or
  /// negative.
  WeightView dense(const std::string& module, int64_t rows, int64_t cols);

  /// The same for one matrix of a routed expert: described, not yet copied or checked value by
  /// value.
  MatrixSource expert(const std::string& module, int64_t rows, int64_t cols);

  /// The same where `<base>` (plain numbers, [n_experts, cols, n_rows]) or `<base>_blocks` and
  /// `<base>_scales` (mxfp4) hold all experts, with `<base>_bias` [n_experts, n_rows].
  MatrixSource stacked_expert(const std::string& base, const StackedRows& which, int64_t rows,
                              int64_t cols);

  /// A vector (norm, bias, sink) as float32. Kept here.
  const float* vector(const std::string& name, int64_t n);
  const float* vector_if(bool is_there, const std::string& name, int64_t n) {
    return is_there ? vector(name, n) : nullptr;
  }

  /// What has been asked for so far: values and bytes of dense weights by format, vectors as what
  /// they are in the file.
  struct Tally {
    uint64_t n_values = 0;
    uint64_t n_bytes = 0;
  };
  const std::map<FormatId, Tally>& dense_tally() const { return tally_; }

  /// Of the vectors and scales that are kept here.
  uint64_t copied_bytes() const { return copied_bytes_; }

  /// Marks tensors that the model knows and does not need; a name ending in '*' stands for all that
  /// begin so.
  void ignore(std::string_view name);

  /// Errors: kBadInput with the first tensors that nobody asked for or ignored.
  void check_all_read() const;

 private:
  MatrixSource find(const std::string& module, int64_t rows, int64_t cols, bool is_expert);
  MatrixSource find_fp8(const std::string& module, const TensorEntry& weight, int64_t rows,
                        int64_t cols);
  MatrixSource find_nvfp4(const std::string& module, const TensorEntry& weight, int64_t rows,
                          int64_t cols);
  MatrixSource find_mxfp4(const std::string& module, const TensorEntry& weight, int64_t rows,
                          int64_t cols);
  const TensorEntry& read(const std::string& name, const std::vector<int64_t>& shape);
  float scalar(const std::string& name);
  void check_scheme(const std::string& module, FormatId format, bool is_expert) const;
  void count(FormatId format, int64_t n_values, uint64_t n_bytes);
  const float* keep(std::vector<float> values);

  const Checkpoint& checkpoint_;
  Quantization quantization_;
  std::unordered_set<std::string> read_;
  std::vector<std::string> ignored_;
  std::map<FormatId, Tally> tally_;
  std::deque<std::vector<float>> kept_;  // a deque: addresses stay
  uint64_t copied_bytes_ = 0;
};

/// Value i of a source as float32.
float value_at(const VectorSource& source, int64_t i);

/// The same where only a finite number makes sense: kernels that quantise activations would hide what
/// it does to them. Errors: kBadInput with the place.
float finite_at(const VectorSource& source, int64_t i);

/// Copies rows of codes, row_bytes apart, each padded with zeros. Errors: kBadInput for an fp8 weight
/// that is NaN.
void copy_codes(const MatrixSource& source, uint8_t* to, int64_t row_bytes);

/// Copies and checks the scales, in the form that the format's arithmetic reads: contiguous rows of
/// blocks_of() scales. Errors: kBadInput for e8m0 255, a negative or NaN e4m3, a float that is
/// negative or not finite; names the tensor and the place in it.
void copy_scales(const MatrixSource& source, uint8_t* to);

}  // namespace ft
