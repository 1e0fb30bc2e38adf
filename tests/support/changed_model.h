// A copy of a fixture in a folder of its own, with changes: for tests of what must be refused.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace ft::test {

class ChangedModel {
 public:
  explicit ChangedModel(const std::string& fixture) {
    static int n_made = 0;
    folder_ = std::filesystem::temp_directory_path() /
              ("ft-test-" + std::to_string(getpid()) + "-" + std::to_string(n_made++));
    std::filesystem::create_directory(folder_);
    const auto from = std::filesystem::path(FT_SOURCE_DIR) / "fixtures" / fixture;
    for (const auto& entry : std::filesystem::directory_iterator(from)) {
      if (entry.path().filename() == "golden.safetensors") continue;
      std::filesystem::copy_file(entry.path(), folder_ / entry.path().filename());
    }
  }
  ~ChangedModel() { std::filesystem::remove_all(folder_); }
  ChangedModel(const ChangedModel&) = delete;
  ChangedModel& operator=(const ChangedModel&) = delete;

  const std::filesystem::path& folder() const { return folder_; }

  nlohmann::json config() const { return nlohmann::json::parse(read("config.json")); }
  void set_config(const nlohmann::json& config) { write("config.json", config.dump()); }

  std::string read(const std::string& file) const {
    std::ostringstream text;
    text << std::ifstream(folder_ / file, std::ios::binary).rdbuf();
    return text.str();
  }
  void write(const std::string& file, const std::string& text) {
    std::ofstream(folder_ / file, std::ios::binary | std::ios::trunc) << text;
  }

  /// Rewrites the header of model.safetensors; the data stays as it is.
  template <typename Change>
  void change_header(Change change) {
    const std::string file = read("model.safetensors");
    uint64_t n = 0;
    __builtin_memcpy(&n, file.data(), sizeof(n));
    nlohmann::json header = nlohmann::json::parse(file.substr(8, n));
    change(header);
    const std::string text = header.dump();
    n = text.size();
    write("model.safetensors", std::string(reinterpret_cast<const char*>(&n), sizeof(n)) + text +
                                   file.substr(8 + header_bytes(file)));
  }

  /// Overwrites one byte of a tensor.
  void set_byte(const std::string& tensor, size_t offset, uint8_t value) {
    std::string file = read("model.safetensors");
    const nlohmann::json header = nlohmann::json::parse(file.substr(8, header_bytes(file)));
    const size_t begin = header.at(tensor).at("data_offsets").at(0);
    file[8 + header_bytes(file) + begin + offset] = static_cast<char>(value);
    write("model.safetensors", file);
  }

 private:
  static size_t header_bytes(const std::string& file) {
    uint64_t n = 0;
    __builtin_memcpy(&n, file.data(), sizeof(n));
    return n;
  }

  std::filesystem::path folder_;
};

}  // namespace ft::test
