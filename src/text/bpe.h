// Byte pair encoding: a word's characters become tokens, and neighbours are merged by rank until no
// merge applies.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/vocabulary.h"

namespace ft {

/// What tokenizer.json says of a BPE model.
struct BpeSpec {
  std::vector<std::pair<std::string, int64_t>> vocab;
  std::vector<std::pair<std::string, std::string>> merges;  // in order of rank
  std::optional<std::string> unk_token;
  std::string
      continuing_subword_prefix;  // put before each character of a word but the first to look it up
  std::string end_of_word_suffix;  // put behind the last one
  bool fuse_unk = false;           // neighbouring unknown characters become one unk_token
  // An unknown character becomes its bytes, spelled "<0xE4>", if all are there
  bool byte_fallback = false;
  bool ignore_merges = false;  // a word that is a piece is that piece
};

class Bpe {
 public:
  /// Working memory of encode_word(), to be reused from word to word, and its operation count.
  struct Scratch {
    struct Symbol {
      int32_t id;
      int32_t previous;  // index of the neighbour, -1 at the ends
      int32_t next;
      bool is_merged_away;
    };
    struct Candidate {
      uint32_t rank;
      uint32_t position;  // index of the left symbol
      int32_t merged_id;
    };
    std::vector<Symbol> symbols;
    std::vector<Candidate> heap;
    uint64_t n_operations = 0;  // heap pushes, heap pops and look-ups of pairs so far
  };

  /// Errors: kBadInput for bad ids (see Vocabulary) and for a merge of which a part or the result
  /// is not in the vocabulary.
  Bpe(BpeSpec spec, const std::string& where);

  /// Appends the ids of `word`, which is valid UTF-8. n log n in its length, with constant stack.
  /// Characters that the vocabulary cannot spell are left out if the model has no unk_token, as the
  /// reference does. Errors: kBadInput if unk_token is needed and is not in the vocabulary.
  void encode_word(std::string_view word, std::vector<int32_t>& ids, Scratch& scratch) const;

  const Vocabulary& vocabulary() const { return vocabulary_; }
  bool has_byte_fallback() const { return byte_fallback_; }

 private:
  struct Merge {
    uint32_t rank;
    int32_t merged_id;
  };

  // Pairs of ids to merges: open addressing, since this look-up is most of the work.
  class MergeTable {
   public:
    explicit MergeTable(size_t n_merges);
    void set(int32_t left, int32_t right, Merge merge);
    const Merge* find(int32_t left, int32_t right) const;

   private:
    struct Slot {
      uint64_t key = kEmpty;
      Merge merge{};
    };
    static constexpr uint64_t kEmpty = ~uint64_t{0};  // no pair of ids has it
    size_t slot_of(uint64_t key) const;

    std::vector<Slot> slots_;  // a power of two, at most half full
  };

  void add_merge(const std::pair<std::string, std::string>& parts, size_t rank,
                 const std::string& where);
  void split_into_symbols(std::string_view word, std::vector<Scratch::Symbol>& symbols) const;
  std::optional<int32_t> id_of_character(std::string_view character, bool is_first,
                                         bool is_last) const;
  bool append_bytes(std::string_view character, bool is_first, bool is_last,
                    std::vector<Scratch::Symbol>& symbols) const;
  std::string spell(std::string_view character, bool is_first, bool is_last) const;
  void merge_all(Scratch& scratch) const;
  void push_candidate(Scratch& scratch, int32_t left) const;

  Vocabulary vocabulary_;
  MergeTable merges_;
  std::optional<std::string> unk_token_;
  std::string prefix_;
  std::string suffix_;
  bool fuse_unk_;
  bool byte_fallback_;
  bool ignore_merges_;
  std::array<std::optional<int32_t>, 256> byte_ids_;  // of "<0x00>" to "<0xFF>"
  std::array<int32_t, 0x180>
      short_ids_;  // of the characters below U+0180, the byte-level alphabet among them; -1: none
};

}  // namespace ft
