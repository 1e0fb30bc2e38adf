// Made-up tensors for a folder that holds a config.json and no weights: of the names, types and
// shapes that a file of the declared scheme would have.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "files/config.h"
#include "files/dummy_memory.h"
#include "files/dummy_values.h"
#include "files/quantization.h"
#include "files/tensor_entry.h"

namespace ft {

class Team;

/// Tensors come into being when somebody wants them. Those of experts, which a load copies, all lie
/// in a few megabytes that are seen many times; all others have memory of their own, since a step
/// reads it. Vectors and what becomes float32 at load are written at once, the rest by fill().
/// Weights have a deviation of 1/sqrt(columns), norms are 1, biases small.
class DummyTensors {
 public:
  /// `where` names the folder in messages. Errors: those of quantization_of().
  DummyTensors(const Config& config, uint64_t seed, std::string where);

  /// What Weights reads of a module, a stack of experts with biases, a vector. A module keeps bf16
  /// where the scheme excepts it, and where published files do although no list says so: embedding,
  /// head and routers. Errors: kOutOfMemory for sizes that no model has, kUnsupported for a stack in
  /// a scheme that has none.
  void want_matrix(const std::string& module, int64_t rows, int64_t cols, bool is_expert);
  void want_stack(const std::string& base, int64_t n_experts, int64_t n_rows, int64_t cols);
  void want_vector(const std::string& name, int64_t n);

  const TensorEntry* find(std::string_view name) const;  // nullptr: nobody has wanted it
  uint64_t n_bytes() const { return n_bytes_; }      // of all tensors, as a file would have them
  uint64_t own_bytes() const { return own_bytes_; }  // of those with memory of their own

  /// Writes all that has been wanted and not been written. Errors: kOutOfMemory.
  void fill(Team& team);

  /// Gives back what experts were copied from: their tensors must not be read any more.
  void drop_experts();

 private:
  enum class Place : uint8_t { kShared, kNow, kLater };
  struct Wish {
    std::string name;
    DType dtype;
    std::vector<int64_t> shape;
    DummyValues values;
    Place place;
  };
  struct Later {
    std::byte* data;
    uint64_t n_bytes;
    DummyValues values;
    uint64_t seed;
  };

  void add(Wish wish);
  uint64_t bytes_of_wish(const Wish& wish) const;
  void count_matrices(uint64_t n);
  void add_packed(const std::string& module, const std::vector<int64_t>& shape, float size,
                  Place place);
  bool keeps_type(const std::string& module, bool is_expert) const;
  RepeatedMemory& pool(const DummyValues& values);

  Quantization quantization_;
  bool is_tied_;
  uint64_t seed_;
  std::string where_;
  std::map<std::string, TensorEntry, std::less<>> tensors_;
  std::map<DummyValues, RepeatedMemory> pools_;
  LaterMemory written_;  // apart from what is not yet written: both take memory by huge pages
  LaterMemory unwritten_;
  std::vector<Later> later_;
  uint64_t n_bytes_ = 0;
  uint64_t own_bytes_ = 0;
  uint64_t written_bytes_ = 0;
  uint64_t n_matrices_ = 0;
};

}  // namespace ft
