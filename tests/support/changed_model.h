// A copy of a fixture in a folder of its own, with changes: for tests of what must be refused.
#pragma once

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "tests/support/temporary_folder.h"

namespace ft::test {

class ChangedModel {
 public:
  explicit ChangedModel(const std::string& fixture) {
    const auto from = std::filesystem::path(FT_SOURCE_DIR) / "fixtures" / fixture;
    for (const auto& entry : std::filesystem::directory_iterator(from)) {
      if (entry.path().filename() == "golden.safetensors") continue;
      std::filesystem::copy_file(entry.path(), folder() / entry.path().filename());
    }
  }

  const std::filesystem::path& folder() const { return folder_.path(); }

  nlohmann::json config() const { return nlohmann::json::parse(folder_.read("config.json")); }
  void set_config(const nlohmann::json& config) { folder_.write("config.json", config.dump()); }

  /// Rewrites the header of model.safetensors; the data stays as it is.
  template <typename Change>
  void change_header(Change change) {
    const std::string file = folder_.read("model.safetensors");
    uint64_t n = 0;
    __builtin_memcpy(&n, file.data(), sizeof(n));
    nlohmann::json header = nlohmann::json::parse(file.substr(8, n));
    change(header);
    const std::string text = header.dump();
    n = text.size();
    folder_.write("model.safetensors", std::string(reinterpret_cast<const char*>(&n), sizeof(n)) +
                                           text + file.substr(8 + header_bytes(file)));
  }

  /// Overwrites one byte of a tensor.
  void set_byte(const std::string& tensor, size_t offset, uint8_t value) {
    std::string file = folder_.read("model.safetensors");
    const nlohmann::json header = nlohmann::json::parse(file.substr(8, header_bytes(file)));
    const size_t begin = header.at(tensor).at("data_offsets").at(0);
    file[8 + header_bytes(file) + begin + offset] = static_cast<char>(value);
    folder_.write("model.safetensors", file);
  }

 private:
  static size_t header_bytes(const std::string& file) {
    uint64_t n = 0;
    __builtin_memcpy(&n, file.data(), sizeof(n));
    return n;
  }

  TemporaryFolder folder_;
};

}  // namespace ft::test
