// Which files belong to a model, and whether they agree with their index and with each other.
#include "files/checkpoint.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/file_map.h"
#include "base/printable.h"
#include "files/dummy_tensors.h"
#include "files/safetensors.h"

namespace ft {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSingleFile = "model.safetensors";
constexpr const char* kIndexFile = "model.safetensors.index.json";
constexpr const char* kModelOptFile = "hf_quant_config.json";
constexpr std::string_view kSuffix = ".safetensors";
// The largest published index has about 20 MB.
constexpr uint64_t kMaxIndexBytes = 64 << 20;

/// One mapped file and what its header says.
struct Shard {
  std::shared_ptr<FileMap> map;
  std::vector<TensorEntry> tensors;
};

Shard read_shard(const fs::path& file) {
  auto map = std::make_shared<FileMap>(file);
  std::vector<TensorEntry> tensors = read_safetensors(map->bytes(), file.string());
  return {std::move(map), std::move(tensors)};
}

/// Whether there is a file or a link of that name, even one that leads nowhere: reading it then
/// tells why.
bool is_there(const fs::path& file) {
  std::error_code error;
  return fs::exists(fs::symlink_status(file, error));
}

/// Names of all *.safetensors files of a folder, sorted. A link that leads nowhere is no file:
/// downloads that were broken off leave such links.
std::vector<std::string> safetensors_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (auto file = fs::directory_iterator(folder, error); !error && file != fs::end(file);
       file.increment(error)) {
    std::string name = file->path().filename().string();
    std::error_code unreadable;
    if (name.ends_with(kSuffix) && file->exists(unreadable)) names.push_back(std::move(name));
  }
  if (error) fail(ErrorKind::kIo, "cannot list {}: {}", folder.string(), error.message());
  std::sort(names.begin(), names.end());
  return names;
}

/// model.safetensors.index.json: the shard of each tensor, by tensor name.
class ShardIndex {
 public:
  explicit ShardIndex(const fs::path& file) : where_(file.string()) {
    const Config map = Config::read(file, kMaxIndexBytes).object({"weight_map"});
    for (std::string& tensor : map.names()) {
      std::string shard = map.string({tensor});
      require_plain(shard, tensor);
      first_tensor_.try_emplace(shard, tensor);
      shard_of_.emplace_back(std::move(tensor), std::move(shard));
    }
    if (shard_of_.empty()) bad_input("{}: weight_map names no tensor", where_);
  }

  /// The shards, each with the first tensor that it must hold.
  const std::map<std::string, std::string>& shards() const { return first_tensor_; }

  /// Both lists sorted by name. Every tensor of the index must be in the shard that it names.
  void require_agreement(const std::vector<TensorEntry>& tensors) const {
    auto entry = tensors.begin();
    for (const auto& [tensor, shard] : shard_of_) {
      while (entry != tensors.end() && entry->name < tensor) ++entry;
      if (entry == tensors.end() || entry->name != tensor) {
        bad_input("{}: tensor '{}' should be in {}, but no shard holds it", where_,
                  printable(tensor), shard);
      }
      if (fs::path(entry->file).filename() != shard) {
        bad_input("{}: tensor '{}' should be in {}, but is in {}", where_, printable(tensor), shard,
                  entry->file);
      }
    }
  }

 private:
  /// A shard is a file of the same folder; no index may make us open any other.
  void require_plain(const std::string& shard, const std::string& tensor) const {
    if (shard.find('/') != std::string::npos || shard.find('\0') != std::string::npos ||
        shard == kSuffix || !shard.ends_with(kSuffix)) {
      bad_input(
          "{}: tensor '{}' is said to be in \"{}\", which is not the name of a {} file in "
          "the index's own folder",
          where_, printable(tensor), printable(shard), kSuffix);
    }
  }

  std::string where_;
  std::vector<std::pair<std::string, std::string>> shard_of_;
  std::map<std::string, std::string> first_tensor_;
};

void require_all_shards(const fs::path& folder, const ShardIndex& index,
                        const std::vector<std::string>& present) {
  for (const auto& [shard, tensor] : index.shards()) {
    if (!std::binary_search(present.begin(), present.end(), shard)) {
      bad_input(
          "{}: the shard {} is missing; its first tensor is '{}', and {} names {} shards: download "
          "the missing files",
          folder.string(), printable(shard), printable(tensor), kIndexFile, index.shards().size());
    }
  }
}

/// Whether the name is one under which tools store weights: "model-00001-of-00002.safetensors",
/// "consolidated.safetensors".
bool is_named_like_weights(std::string_view file) {
  return file.starts_with("model") || file.starts_with("consolidated") ||
         file.find("-of-") != std::string_view::npos;
}

/// Whether a file holds parameters of modules, whose names are paths ("norm.weight"), and not other
/// data that lies in the folder, such as a recorded trace ("tokens").
bool holds_parameters(const Shard& shard) {
  return std::any_of(shard.tensors.begin(), shard.tensors.end(), [](const TensorEntry& tensor) {
    return tensor.name.find('.') != std::string::npos;
  });
}

/// Weights in a file that is not part of the model are a sign that the folder holds two models, or
/// half of one.
void refuse_stray(const fs::path& folder, const std::string& file) {
  if (is_named_like_weights(file) || holds_parameters(read_shard(folder / file))) {
    bad_input(
        "{}: {} holds weights, but no {} names it; move it out of the folder if the model is "
        "complete without it, else fetch the index that belongs to it",
        folder.string(), file, kIndexFile);
  }
}

std::vector<Shard> read_indexed(const fs::path& folder, const ShardIndex& index) {
  const std::vector<std::string> present = safetensors_in(folder);
  require_all_shards(folder, index, present);
  std::vector<Shard> shards;
  for (const auto& [file, tensor] : index.shards()) shards.push_back(read_shard(folder / file));
  for (const std::string& file : present) {
    if (!index.shards().contains(file)) refuse_stray(folder, file);
  }
  return shards;
}

std::vector<Shard> read_without_index(const fs::path& folder) {
  const std::vector<std::string> present = safetensors_in(folder);
  std::vector<Shard> shards;
  if (std::binary_search(present.begin(), present.end(), kSingleFile)) {
    shards.push_back(read_shard(folder / kSingleFile));
    for (const std::string& file : present) {
      if (file != kSingleFile) refuse_stray(folder, file);
    }
    return shards;
  }
  for (const std::string& file : present) {
    Shard shard = read_shard(folder / file);
    if (is_named_like_weights(file) || holds_parameters(shard)) {
      shards.push_back(std::move(shard));
    }
  }
  if (shards.empty()) {
    std::error_code unreadable;
    if (fs::is_symlink(folder / kSingleFile, unreadable))
      read_shard(folder / kSingleFile);  // says why it fails
    bad_input("{}: no weights: neither {}, nor {}, nor any other *{} file with parameters",
              folder.string(), kSingleFile, kIndexFile, kSuffix);
  }
  return shards;
}

/// config.json, with what ModelOpt wrote beside it if config.json itself says nothing about
/// quantisation.
Config read_config(const fs::path& folder) {
  const Config config = Config::read(folder / "config.json");
  const Config text = config.text_model();
  const fs::path extra = folder / kModelOptFile;
  if (text.has("quantization_config") || text.has("compression_config") || !is_there(extra)) {
    return config;
  }
  return config.with("quantization_config", Config::read(extra));
}

void require_folder(const fs::path& folder) {
  std::error_code error;
  if (fs::is_directory(folder, error)) return;
  fail(ErrorKind::kIo, "{} is not a folder{}", folder.string(),
       fs::exists(folder, error) ? "" : ": there is nothing of that name");
}

}  // namespace

Checkpoint Checkpoint::open_dummy(const fs::path& folder, uint64_t seed) {
  require_folder(folder);
  Checkpoint checkpoint(read_config(folder));
  checkpoint.folder_ = folder;
  checkpoint.dummy_ = std::make_shared<DummyTensors>(checkpoint.config_, seed, folder.string());
  return checkpoint;
}

Checkpoint Checkpoint::open(const fs::path& folder) {
  require_folder(folder);
  Checkpoint checkpoint(read_config(folder));
  checkpoint.folder_ = folder;

  std::optional<ShardIndex> index;
  if (is_there(folder / kIndexFile)) index.emplace(folder / kIndexFile);
  std::vector<Shard> shards = index ? read_indexed(folder, *index) : read_without_index(folder);
  std::vector<TensorEntry>& tensors = checkpoint.tensors_;
  for (Shard& shard : shards) {
    std::move(shard.tensors.begin(), shard.tensors.end(), std::back_inserter(tensors));
    checkpoint.maps_.push_back(std::move(shard.map));
  }
  std::sort(tensors.begin(), tensors.end(),
            [](const TensorEntry& a, const TensorEntry& b) { return a.name < b.name; });
  const auto twin = std::adjacent_find(
      tensors.begin(), tensors.end(),
      [](const TensorEntry& a, const TensorEntry& b) { return a.name == b.name; });
  if (twin != tensors.end()) {
    bad_input("tensor '{}' is in two files, {} and {}; remove the one that is not of this model",
              printable(twin->name), twin->file, (twin + 1)->file);
  }
  if (index) index->require_agreement(tensors);
  return checkpoint;
}

uint64_t Checkpoint::tensor_bytes() const {
  if (dummy_) return dummy_->n_bytes();
  uint64_t n_bytes = 0;
  for (const TensorEntry& tensor : tensors_) n_bytes += tensor.n_bytes;
  return n_bytes;
}

const TensorEntry* Checkpoint::find(std::string_view name) const {
  if (dummy_) return dummy_->find(name);
  const auto entry = std::lower_bound(
      tensors_.begin(), tensors_.end(), name,
      [](const TensorEntry& tensor, std::string_view wanted) { return tensor.name < wanted; });
  return entry != tensors_.end() && entry->name == name ? &*entry : nullptr;
}

const TensorEntry& Checkpoint::at(std::string_view name) const {
  const TensorEntry* const entry = find(name);
  if (entry == nullptr) {
    bad_input("{}: tensor '{}' is missing among the {} tensors of the model", folder_.string(),
              name, tensors_.size());
  }
  return *entry;
}

}  // namespace ft
