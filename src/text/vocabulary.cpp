// Ids index a vector, so the largest one is bounded before anything is allocated.
#include "text/vocabulary.h"

#include <algorithm>

#include "base/error.h"
#include "text/utf8.h"

namespace ft {

int64_t Vocabulary::limit_of(size_t n) {
  return static_cast<int64_t>(n) * 4 + (1 << 16);
}

Vocabulary::Vocabulary(std::vector<std::pair<std::string, int64_t>> pieces,
                       const std::string& where) {
  const int64_t limit = std::min<int64_t>(limit_of(pieces.size()), INT32_MAX);
  int64_t n_ids = 0;
  for (const auto& [piece, id] : pieces) {
    if (id < 0 || id >= limit) {
      bad_input("{}: piece '{}' has the id {}; with {} pieces ids must be 0 to {}", where,
                excerpt(piece), id, pieces.size(), limit - 1);
    }
    n_ids = std::max(n_ids, id + 1);
  }
  spellings_.resize(static_cast<size_t>(n_ids));
  ids_.reserve(pieces.size());
  for (auto& [piece, id] : pieces) {
    std::optional<std::string>& spelling = spellings_[static_cast<size_t>(id)];
    if (spelling)
      bad_input("{}: the pieces '{}' and '{}' have the same id {}", where, excerpt(*spelling),
                excerpt(piece), id);
    spelling = std::move(piece);
    ids_.emplace(*spelling, static_cast<int32_t>(id));
  }
}

std::optional<int32_t> Vocabulary::find(std::string_view piece) const {
  const auto found = ids_.find(piece);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace ft
