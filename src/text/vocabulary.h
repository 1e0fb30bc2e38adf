// Pieces and their ids, both ways.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ft {

class Vocabulary {
 public:
  Vocabulary() = default;

  /// `where` is for messages. Errors: kBadInput for an id that is negative, used twice, or larger
  /// than limit_of() says.
  Vocabulary(std::vector<std::pair<std::string, int64_t>> pieces, const std::string& where);

  Vocabulary(Vocabulary&&) =
      default;  // views of the pieces stay valid: a moved vector keeps its strings
  Vocabulary& operator=(Vocabulary&&) = default;

  /// Ids of a vocabulary of `n` pieces must be below this. Some have holes; memory goes with the
  /// largest id.
  static int64_t limit_of(size_t n);

  std::optional<int32_t> find(std::string_view piece) const;
  bool contains(int32_t id) const {
    return id >= 0 && static_cast<size_t>(id) < spellings_.size() && spellings_[id];
  }
  std::string_view piece(int32_t id) const {
    return contains(id) ? std::string_view(*spellings_[id]) : "";
  }
  size_t n_pieces() const { return ids_.size(); }
  int32_t n_ids() const { return static_cast<int32_t>(spellings_.size()); }  // largest id + 1

 private:
  std::vector<std::optional<std::string>> spellings_;  // [n_ids]
  std::unordered_map<std::string_view, int32_t> ids_;
};

}  // namespace ft
