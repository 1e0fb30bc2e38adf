// config.json: sizes and specs of a model, whatever dialect they are written in.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ft {

/// One JSON object. Names are tried in order and the first that is present and not null counts, so
/// that an old and a new dialect are one call: `config.integer({"num_experts",
/// "num_local_experts"})`. Every Error names the file and the key. Copies are cheap: they share the
/// parsed document.
class Config {
 public:
  using Names = std::initializer_list<std::string_view>;

  static constexpr uint64_t kMaxBytes = 16 << 20;

  /// Reads and parses a file. Errors: kIo if it cannot be read; kBadInput if it is not a JSON
  /// object, is nested deeper than 64, names a member twice, or is larger than `max_bytes`.
  /// Python's NaN and Infinity are read, but as strings: a file may hold them, and who asks for one
  /// of these members as a number is told.
  static Config read(const std::filesystem::path& file, uint64_t max_bytes = kMaxBytes);
  static Config parse(std::string_view text, std::string where);

  bool has(std::string_view name) const;   // present and not null
  std::vector<std::string> names() const;  // of all members, sorted

  // Missing, or of another type: kBadInput. An integer may be written 64 or 64.0, and must fit in
  // int64.
  int64_t integer(Names names) const;
  double number(Names names) const;
  std::string string(Names names) const;
  Config object(Names names) const;

  // Missing: the default. Of another type: kBadInput.
  int64_t integer(Names names, int64_t otherwise) const;
  double number(Names names, double otherwise) const;
  bool flag(Names names, bool otherwise) const;
  std::string string(Names names, std::string_view otherwise) const;
  std::optional<Config> find_object(Names names) const;
  std::vector<int64_t> integers(
      Names names) const;  // missing: empty; a single integer: a list of one
  std::vector<double> numbers(Names names) const;       // likewise
  std::vector<std::string> strings(Names names) const;  // likewise

  /// This object with the members of `text_config` (or `language_config`, `llm_config`) laid over
  /// it, if it has one. A null in the inner object leaves the outer member as it is.
  Config text_model() const;

  /// This object with one more member, or with that member replaced.
  Config with(std::string_view name, const Config& object) const;

  /// "models/demo/config.json: rope_parameters", for messages.
  const std::string& where() const;

 private:
  struct Node;
  explicit Config(std::shared_ptr<const Node> node);
  std::shared_ptr<const Node> node_;
};

}  // namespace ft
