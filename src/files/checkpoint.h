// A model folder: named tensors and metadata, mapped and checked, not copied. Knows no
// architecture.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "files/config.h"
#include "files/tensor_entry.h"

namespace ft {

class FileMap;

class Checkpoint {
 public:
  /// Opens `folder`: config.json, and model.safetensors, or the shards that
  /// model.safetensors.index.json names, or, without an index, every *.safetensors file. Errors
  /// name the file and the tensor: a missing shard (with its first tensor), a shard that the index
  /// does not name, a tensor in two shards or not where the index says, a malformed file.
  static Checkpoint open(const std::filesystem::path& folder);

  const Config& config() const { return config_; }
  const std::filesystem::path& folder() const { return folder_; }

  const TensorEntry* find(std::string_view name) const;  // nullptr if there is none
  const TensorEntry& at(
      std::string_view name) const;  // kBadInput that names the tensor and the folder
  const std::vector<TensorEntry>& tensors() const { return tensors_; }  // sorted by name

 private:
  explicit Checkpoint(Config config) : config_(std::move(config)) {}

  std::filesystem::path folder_;
  Config config_;
  std::vector<TensorEntry> tensors_;
  std::vector<std::shared_ptr<FileMap>> maps_;
};

}  // namespace ft
