// Spellings are at most 1 KiB, so the search is linear in the text for every file.
#include "text/added_tokens.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "text/unicode.h"
#include "text/utf8.h"
#include "text/vocabulary.h"

namespace ft {
namespace {

constexpr size_t kMaxContentBytes = 1024;

bool ends_with_word(std::string_view text, size_t end) {
  if (end == 0) return false;
  size_t position = previous_code_point(text, end);
  return is_word_character(next_code_point(text, position));
}

bool starts_with_word(std::string_view text, size_t begin) {
  return begin < text.size() && is_word_character(next_code_point(text, begin));
}

void check_spelling(const std::string& content, const std::string& where) {
  if (content.size() <= kMaxContentBytes) return;
  bad_input("{}: an added token of {} bytes; the limit is {}", where, content.size(),
            kMaxContentBytes);
}

void check(const AddedToken& token, int64_t limit, const std::string& where) {
  check_spelling(token.content, where);
  if (token.id < 0 || token.id >= limit) {
    bad_input("{}: the added token '{}' has the id {}; ids must be 0 to {}", where,
              excerpt(token.content), token.id, limit - 1);
  }
}

// The reference numbers tokens that the vocabulary lacks from its size on, whatever id the file
// gives them. Models were trained with those numbers, so they are taken here too, not without a
// word.
class Renumbered {
 public:
  void note(const AddedToken& token, int32_t id) {
    if (token.id == id || n_++ > 0) return;
    example_ = fmt::format("'{}' has the id {} in the file and gets {}", excerpt(token.content),
                           token.id, id);
  }
  std::vector<std::string> notes(const std::string& where) const {
    if (n_ == 0) return {};
    return {fmt::format("{}: {} added tokens are numbered anew, as the reference does: {}", where,
                        n_, example_)};
  }

 private:
  int n_ = 0;
  std::string example_;
};

}  // namespace

AddedTokens::Matcher::Matcher(std::vector<Spelling> list) : spellings(std::move(list)) {
  const auto by_text = [](const Spelling& a, const Spelling& b) { return a.text < b.text; };
  const auto is_same = [](const Spelling& a, const Spelling& b) { return a.text == b.text; };
  std::stable_sort(spellings.begin(), spellings.end(), by_text);
  spellings.erase(std::unique(spellings.begin(), spellings.end(), is_same), spellings.end());
  for (uint32_t i = 0; i < spellings.size(); ++i) {
    Range& range = by_first_byte[static_cast<unsigned char>(spellings[i].text[0])];
    if (range.begin == range.end) range.begin = i;
    range.end = i + 1;
  }
}

AddedTokens::AddedTokens(std::vector<AddedToken> tokens, const Vocabulary& vocabulary,
                         const std::vector<NormalizerStep>& normalizer, const std::string& where) {
  const int64_t limit = Vocabulary::limit_of(vocabulary.n_pieces() + tokens.size());
  Renumbered renumbered;
  for (AddedToken& token : tokens) {
    if (token.content.empty()) continue;
    check(token, limit, where);
    const int32_t id = id_for(token.content, vocabulary, where);
    renumbered.note(token, id);
    token.id = id;
    if (const AddedToken* known = find(id)) token.is_special |= known->is_special;
    ids_.insert_or_assign(token.content, id);
    by_id_.insert_or_assign(id, std::move(token));
  }
  notes_ = renumbered.notes(where);

  std::vector<Spelling> raw;
  std::vector<Spelling> normalized;
  for (const auto& [id, token] : by_id_) {
    if (!token.is_normalized) {
      raw.push_back({token.content, id});
    } else if (std::string content = normalize(normalizer, {token.content, ""}).text;
               !content.empty()) {
      check_spelling(content, where);
      normalized.push_back({std::move(content), id});
    }
  }
  raw_ = Matcher(std::move(raw));
  normalized_ = Matcher(std::move(normalized));
}

int32_t AddedTokens::id_for(const std::string& content, const Vocabulary& vocabulary,
                            const std::string& where) const {
  if (const std::optional<int32_t> id = find(content)) return *id;
  if (const std::optional<int32_t> id = vocabulary.find(content)) return *id;
  const int32_t n_pieces = static_cast<int32_t>(vocabulary.n_pieces());
  const int32_t id = by_id_.empty() ? n_pieces : std::max(n_pieces, by_id_.rbegin()->first + 1);
  if (vocabulary.contains(id)) {
    bad_input(
        "{}: the added token '{}' would get the id {}, the first behind {} pieces, but the piece "
        "'{}' has it",
        where, excerpt(content), id, n_pieces, excerpt(vocabulary.piece(id)));
  }
  return id;
}

std::vector<TextPart> AddedTokens::split(const MarkedText& text, const Matcher& matcher) const {
  std::vector<TextPart> parts;
  size_t covered = 0;
  size_t from = 0;
  while (const std::optional<Match> match = find_next(text, matcher, from)) {
    from = match->end;
    const AddedToken& token = by_id_.at(match->id);
    const bool is_part_of_word =
        ends_with_word(text.text, match->begin) || starts_with_word(text.text, match->end);
    if (token.is_single_word && is_part_of_word) continue;
    const size_t begin = token.takes_left_blanks
                             ? trim_whitespace_end(text.text, covered, match->begin)
                             : match->begin;
    const size_t end =
        token.takes_right_blanks ? skip_whitespace(text.text, match->end) : match->end;
    if (begin > covered) parts.push_back({std::nullopt, covered, begin});
    parts.push_back({match->id, begin, end});
    covered = std::max(covered, end);
  }
  if (covered < text.text.size()) parts.push_back({std::nullopt, covered, text.text.size()});
  return parts;
}

std::optional<AddedTokens::Match> AddedTokens::find_next(const MarkedText& text,
                                                         const Matcher& matcher,
                                                         size_t from) const {
  for (size_t begin = from; begin < text.text.size(); ++begin) {
    if (const std::optional<Match> match = longest_at(text, matcher, begin)) return match;
  }
  return std::nullopt;
}

std::optional<AddedTokens::Match> AddedTokens::longest_at(const MarkedText& text,
                                                          const Matcher& matcher,
                                                          size_t begin) const {
  std::optional<Match> longest;
  const auto byte_at = [&](size_t position) {
    return static_cast<unsigned char>(text.text[position]);
  };
  auto [first, last] = matcher.by_first_byte[byte_at(begin)];
  for (size_t n_bytes = 1; first < last;
       ++n_bytes) {  // spellings first..last start with these n_bytes of the text
    const Spelling& shortest = matcher.spellings[first];
    if (shortest.text.size() == n_bytes) {
      const bool is_allowed =
          !by_id_.at(shortest.id).is_special || text.may_be_special(begin, begin + n_bytes);
      if (is_allowed) longest = Match{begin, begin + n_bytes, shortest.id};
      ++first;
    }
    if (begin + n_bytes == text.text.size()) break;
    const auto spelling = matcher.spellings.begin();
    const auto byte_of = [n_bytes](const Spelling& s) {
      return static_cast<unsigned char>(s.text[n_bytes]);
    };
    const unsigned char byte = byte_at(begin + n_bytes);
    const auto from =
        std::lower_bound(spelling + first, spelling + last, byte,
                         [&](const Spelling& s, unsigned char b) { return byte_of(s) < b; });
    const auto to =
        std::upper_bound(from, spelling + last, byte,
                         [&](unsigned char b, const Spelling& s) { return b < byte_of(s); });
    first = static_cast<uint32_t>(from - spelling);
    last = static_cast<uint32_t>(to - spelling);
  }
  return longest;
}

const AddedToken* AddedTokens::find(int32_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &found->second;
}

std::optional<int32_t> AddedTokens::find(std::string_view content) const {
  const auto found = ids_.find(std::string(content));
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace ft
