// Added tokens: pieces that are cut out of the text before the model sees it, the special ones
// among them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/normalizer.h"

namespace ft {

class Vocabulary;

struct AddedToken {
  std::string content;
  int64_t id = 0;
  bool is_special = false;  // can be skipped when decoding; only text that may be special spells it
  bool is_normalized = true;  // matches in the normalised text, by its normalised content
  bool is_single_word = false;
  bool takes_left_blanks = false;
  bool takes_right_blanks = false;
};

/// A stretch of a text: an added token, or text between them.
struct TextPart {
  std::optional<int32_t> id;
  size_t begin;
  size_t end;
};

class AddedTokens {
 public:
  AddedTokens() = default;

  /// Ids are those of `vocabulary` for contents that it has, else they continue
  /// behind it in order; one of notes() says so if the file has other ids.
  /// Errors: kBadInput for an id that a piece has already or that is out of all
  /// proportion, and for a content beyond 1 KiB.
  AddedTokens(std::vector<AddedToken> tokens, const Vocabulary& vocabulary,
              const std::vector<NormalizerStep>& normalizer, const std::string& where);

  /// Cuts the tokens out of a text as it came, or out of normalised text: the leftmost first, of
  /// those the longest. Special tokens need every one of their bytes to be marked as possibly
  /// special. The parts cover the text, none of the texts between is empty.
  std::vector<TextPart> split_raw(const MarkedText& text) const { return split(text, raw_); }
  std::vector<TextPart> split_normalized(const MarkedText& text) const {
    return split(text, normalized_);
  }

  const AddedToken* find(int32_t id) const;
  std::optional<int32_t> find(std::string_view content) const;
  const std::map<int32_t, AddedToken>& by_id() const { return by_id_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  // Spellings in order: those that start alike are neighbours, so a match narrows a range byte by
  // byte.
  struct Spelling {
    std::string text;
    int32_t id;
  };
  struct Range {
    uint32_t begin = 0;
    uint32_t end = 0;
  };
  struct Matcher {
    std::vector<Spelling> spellings;  // sorted by text, no two equal
    std::array<Range, 256> by_first_byte{};
    explicit Matcher(std::vector<Spelling> list = {});
  };
  struct Match {
    size_t begin;
    size_t end;
    int32_t id;
  };

  int32_t id_for(const std::string& content, const Vocabulary& vocabulary,
                 const std::string& where) const;
  std::vector<TextPart> split(const MarkedText& text, const Matcher& matcher) const;
  std::optional<Match> find_next(const MarkedText& text, const Matcher& matcher, size_t from) const;
  std::optional<Match> longest_at(const MarkedText& text, const Matcher& matcher,
                                  size_t begin) const;

  std::map<int32_t, AddedToken> by_id_;
  std::unordered_map<std::string, int32_t> ids_;
  Matcher raw_;
  Matcher normalized_;
  std::vector<std::string> notes_;
};

}  // namespace ft
