// A model folder: named tensors and metadata, mapped and checked, not copied. Knows no
// architecture.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "files/config.h"
#include "files/tensor_entry.h"

namespace ft {

class DummyTensors;
class FileMap;

class Checkpoint {
 public:
  /// Opens `folder`: config.json, and model.safetensors, or the shards that
  /// model.safetensors.index.json names, or, without an index, every *.safetensors file. Errors
  /// name the file and the tensor: a missing shard (with its first tensor), a shard that the index
  /// does not name, a tensor in two shards or not where the index says, a malformed file.
  static Checkpoint open(const std::filesystem::path& folder);

  /// Reads nothing but config.json: the tensors are made up as they are asked for, equal for equal
  /// seeds. Errors: of the configuration.
  static Checkpoint open_dummy(const std::filesystem::path& folder, uint64_t seed);

  /// The maker of a dummy's tensors; nullptr where they come from files.
  DummyTensors* dummy() const { return dummy_.get(); }

  const Config& config() const { return config_; }
  const std::filesystem::path& folder() const { return folder_; }

  const TensorEntry* find(std::string_view name) const;  // nullptr if there is none
  const TensorEntry& at(
      std::string_view name) const;  // kBadInput that names the tensor and the folder
  const std::vector<TensorEntry>& tensors() const { return tensors_; }  // of files; sorted by name
  uint64_t tensor_bytes() const;  // of all tensors; of a dummy those that have been asked for

 private:
  explicit Checkpoint(Config config) : config_(std::move(config)) {}

  std::filesystem::path folder_;
  Config config_;
  std::vector<TensorEntry> tensors_;
  std::vector<std::shared_ptr<FileMap>> maps_;
  std::shared_ptr<DummyTensors> dummy_;
};

}  // namespace ft
