// A checkpoint of any sizes with random float32 weights. Its tensors are those that the
// architecture asks for: found by opening it again and again and doing what the refusals say.
#pragma once

#include <map>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "models/registry.h"
#include "tests/support/temporary_folder.h"

namespace ft::test {

class MadeModel {
 public:
  explicit MadeModel(const nlohmann::json& config) {
    folder_.write("config.json", config.dump());
    while (!is_complete()) {
    }
    write_values();
  }

  const std::filesystem::path& folder() const { return folder_.path(); }

 private:
  bool is_complete() {
    write_header();
    try {
      open_model(Checkpoint::open(folder_.path()));
      return true;
    } catch (const Error& refusal) {
      obey(refusal);
      return false;
    }
  }

  /// A missing tensor is added without a shape, a misshapen one is given its shape. What is neither
  /// is thrown on.
  void obey(const Error& refusal) {
    static const std::regex kShape(
        R"(tensor (\S+) \(F32 \[[^\]]*\]\) should have shape \[([^\]]*)\])");
    static const std::regex kMissing(R"(tensor '?([\w.]+)'?)");
    const std::string text = refusal.what();
    std::smatch found;
    if (std::regex_search(text, found, kShape)) {
      std::vector<int64_t> shape;
      std::istringstream numbers(found[2]);
      for (std::string n; std::getline(numbers, n, ',');) shape.push_back(std::stoll(n));
      shapes_[found[1]] = shape;
    } else if (std::regex_search(text, found, kMissing) && !shapes_.contains(found[1])) {
      shapes_[found[1]] = {0};
    } else {
      throw refusal;
    }
  }

  /// The header, and zeros for which the file system keeps no room.
  void write_header() {
    nlohmann::ordered_json header = nlohmann::ordered_json::object();
    n_values_ = 0;
    for (const auto& [name, shape] : shapes_) {
      const uint64_t begin = sizeof(float) * n_values_;
      uint64_t n = 1;
      for (const int64_t extent : shape) n *= static_cast<uint64_t>(extent);
      n_values_ += n;
      header[name] = {
          {"dtype", "F32"}, {"shape", shape}, {"data_offsets", {begin, sizeof(float) * n_values_}}};
    }
    const std::string text = header.dump();
    const uint64_t n = text.size();
    folder_.write(kFile, std::string(reinterpret_cast<const char*>(&n), sizeof(n)) + text);
    header_bytes_ = sizeof(n) + n;
    std::filesystem::resize_file(folder_.path() / kFile, header_bytes_ + sizeof(float) * n_values_);
  }

  void write_values() {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> uniform(-0.3f, 0.3f);
    std::vector<float> values(n_values_);
    for (float& value : values) value = uniform(random);
    std::fstream file(folder_.path() / kFile, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(header_bytes_));
    file.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(sizeof(float) * n_values_));
  }

  static constexpr const char* kFile = "model.safetensors";
  TemporaryFolder folder_;
  std::map<std::string, std::vector<int64_t>> shapes_;
  uint64_t header_bytes_ = 0;
  uint64_t n_values_ = 0;
};

}  // namespace ft::test
