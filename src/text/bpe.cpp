// The symbols of a word form a linked list; a heap holds the merges that may apply, lowest rank
// first, leftmost first. A merge that became void since it was pushed is recognised when it is
// popped.
#include "text/bpe.h"

#include <algorithm>

#include "base/error.h"
#include "text/utf8.h"

namespace ft {
namespace {

uint64_t key_of(int32_t left, int32_t right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

// For std::push_heap, which keeps the largest in front: the lowest rank, then the leftmost
// position.
bool comes_later(const Bpe::Scratch::Candidate& a, const Bpe::Scratch::Candidate& b) {
  return a.rank != b.rank ? a.rank > b.rank : a.position > b.position;
}

void append_symbol(std::vector<Bpe::Scratch::Symbol>& symbols, int32_t id) {
  const auto index = static_cast<int32_t>(symbols.size());
  if (index > 0) symbols.back().next = index;
  symbols.push_back({id, index - 1, -1, false});
}

}  // namespace

Bpe::MergeTable::MergeTable(size_t n_merges) {
  size_t n_slots = 16;
  while (n_slots < n_merges * 2) n_slots *= 2;
  slots_.resize(n_slots);
}

size_t Bpe::MergeTable::slot_of(uint64_t key) const {
  uint64_t mixed = key * 0x9E3779B97F4A7C15U;
  mixed ^= mixed >> 32;
  size_t slot = mixed & (slots_.size() - 1);
  while (slots_[slot].key != key && slots_[slot].key != kEmpty)
    slot = (slot + 1) & (slots_.size() - 1);
  return slot;
}

void Bpe::MergeTable::set(int32_t left, int32_t right, Merge merge) {
  const uint64_t key = key_of(left, right);
  slots_[slot_of(key)] = {key, merge};
}

const Bpe::Merge* Bpe::MergeTable::find(int32_t left, int32_t right) const {
  const Slot& slot = slots_[slot_of(key_of(left, right))];
  return slot.key == kEmpty ? nullptr : &slot.merge;
}

Bpe::Bpe(BpeSpec spec, const std::string& where)
    : vocabulary_(std::move(spec.vocab), where),
      merges_(spec.merges.size()),
      unk_token_(std::move(spec.unk_token)),
      prefix_(std::move(spec.continuing_subword_prefix)),
      suffix_(std::move(spec.end_of_word_suffix)),
      fuse_unk_(spec.fuse_unk),
      byte_fallback_(spec.byte_fallback),
      ignore_merges_(spec.ignore_merges) {
  for (size_t rank = 0; rank < spec.merges.size(); ++rank)
    add_merge(spec.merges[rank], rank, where);
  for (size_t byte = 0; byte < byte_ids_.size(); ++byte) {
    byte_ids_[byte] = vocabulary_.find(fmt::format("<0x{:02X}>", byte));
  }
  for (size_t c = 0; c < short_ids_.size(); ++c) {
    std::string character;
    append_code_point(character, static_cast<char32_t>(c));
    short_ids_[c] = vocabulary_.find(character).value_or(-1);
  }
}

void Bpe::add_merge(const std::pair<std::string, std::string>& parts, size_t rank,
                    const std::string& where) {
  const std::string& left = parts.first;
  const std::string& right = parts.second;
  const auto id_of = [&](std::string_view piece) {
    const std::optional<int32_t> id = vocabulary_.find(piece);
    if (!id) {
      bad_input("{}: merge {} ('{}' '{}') needs the piece '{}', which is not in vocab", where, rank,
                excerpt(left), excerpt(right), excerpt(piece));
    }
    return *id;
  };
  const int32_t left_id = id_of(left);
  const int32_t right_id = id_of(right);
  if (right.size() < prefix_.size()) {
    bad_input("{}: merge {} ('{}' '{}'): the second part is shorter than continuing_subword_prefix",
              where, rank, excerpt(left), excerpt(right));
  }
  const int32_t merged_id = id_of(left + right.substr(prefix_.size()));
  merges_.set(left_id, right_id, {static_cast<uint32_t>(rank), merged_id});
}

void Bpe::encode_word(std::string_view word, std::vector<int32_t>& ids, Scratch& scratch) const {
  if (ignore_merges_) {
    if (const std::optional<int32_t> id = vocabulary_.find(word)) {
      ids.push_back(*id);
      return;
    }
  }
  if (word.size() > INT32_MAX)
    bad_input("a word of {} bytes to tokenise; the limit is {}", word.size(), INT32_MAX);
  scratch.symbols.clear();
  split_into_symbols(word, scratch.symbols);
  merge_all(scratch);
  for (const Scratch::Symbol& symbol : scratch.symbols) {
    if (!symbol.is_merged_away) ids.push_back(symbol.id);
  }
}

void Bpe::split_into_symbols(std::string_view word, std::vector<Scratch::Symbol>& symbols) const {
  bool has_unknown =
      false;  // an unk_token that is not appended yet, since more may be fused into it
  std::optional<int32_t> unk_id;
  const auto flush_unknown = [&] {
    if (has_unknown) append_symbol(symbols, *unk_id);
    has_unknown = false;
  };
  for (size_t position = 0; position < word.size();) {
    const size_t begin = position;
    next_code_point(word, position);
    const std::string_view character = word.substr(begin, position - begin);
    const bool is_first = begin == 0;
    const bool is_last = position == word.size();
    if (const std::optional<int32_t> id = id_of_character(character, is_first, is_last)) {
      flush_unknown();
      append_symbol(symbols, *id);
    } else if (append_bytes(character, is_first, is_last, symbols)) {
      continue;
    } else if (unk_token_) {
      if (!fuse_unk_) flush_unknown();
      if (!unk_id) unk_id = vocabulary_.find(*unk_token_);
      if (!unk_id) {
        bad_input(
            "the tokenizer has no piece for '{}', and its unk_token '{}' is not in its vocabulary",
            character, excerpt(*unk_token_));
      }
      has_unknown = true;
    }
  }
  flush_unknown();
}

std::string Bpe::spell(std::string_view character, bool is_first, bool is_last) const {
  std::string spelling = is_first ? "" : prefix_;
  spelling.append(character);
  if (is_last) spelling.append(suffix_);
  return spelling;
}

std::optional<int32_t> Bpe::id_of_character(std::string_view character, bool is_first,
                                            bool is_last) const {
  if (!prefix_.empty() || !suffix_.empty())
    return vocabulary_.find(spell(character, is_first, is_last));
  size_t position = 0;
  const char32_t code_point = next_code_point(character, position);
  if (code_point >= short_ids_.size()) return vocabulary_.find(character);
  const int32_t id = short_ids_[code_point];
  return id < 0 ? std::nullopt : std::optional(id);
}

bool Bpe::append_bytes(std::string_view character, bool is_first, bool is_last,
                       std::vector<Scratch::Symbol>& symbols) const {
  if (!byte_fallback_) return false;
  const std::string bytes = spell(character, is_first, is_last);
  const auto id_of = [&](char byte) { return byte_ids_[static_cast<unsigned char>(byte)]; };
  if (!std::all_of(bytes.begin(), bytes.end(), [&](char byte) { return id_of(byte).has_value(); }))
    return false;
  for (const char byte : bytes) append_symbol(symbols, *id_of(byte));
  return true;
}

void Bpe::push_candidate(Scratch& scratch, int32_t left) const {
  if (left < 0 || scratch.symbols[left].next < 0) return;
  ++scratch.n_operations;
  const Scratch::Symbol& symbol = scratch.symbols[left];
  const Merge* merge = merges_.find(symbol.id, scratch.symbols[symbol.next].id);
  if (!merge) return;
  scratch.heap.push_back({merge->rank, static_cast<uint32_t>(left), merge->merged_id});
}

void Bpe::merge_all(Scratch& scratch) const {
  std::vector<Scratch::Symbol>& symbols = scratch.symbols;
  std::vector<Scratch::Candidate>& heap = scratch.heap;
  heap.clear();
  for (size_t i = 0; i < symbols.size(); ++i) push_candidate(scratch, static_cast<int32_t>(i));
  std::make_heap(heap.begin(), heap.end(), comes_later);
  scratch.n_operations += heap.size();
  const auto push = [&](int32_t left) {
    const size_t n_before = heap.size();
    push_candidate(scratch, left);
    if (heap.size() == n_before) return;
    ++scratch.n_operations;
    std::push_heap(heap.begin(), heap.end(), comes_later);
  };
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), comes_later);
    const Scratch::Candidate candidate = heap.back();
    heap.pop_back();
    scratch.n_operations += 2;
    const auto position = static_cast<int32_t>(candidate.position);
    Scratch::Symbol& left = symbols[position];
    if (left.is_merged_away || left.next < 0) continue;
    Scratch::Symbol& right = symbols[left.next];
    const Merge* merge = merges_.find(left.id, right.id);
    if (!merge || merge->merged_id != candidate.merged_id) continue;
    left.id = candidate.merged_id;
    left.next = right.next;
    right.is_merged_away = true;
    if (left.next >= 0) symbols[left.next].previous = position;
    push(left.previous);
    push(position);
  }
}

}  // namespace ft
