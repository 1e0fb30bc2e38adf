// The order of work is the reference's: added tokens out of the raw text, normalise what is
// between, added tokens out of the normalised text, cut the rest into words, encode each word, and
// let the post-processor frame the ids.
#include "text/tokenizer.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/file_map.h"
#include "text/tokenizer_json.h"
#include "text/tokenizer_parts.h"
#include "text/utf8.h"

namespace ft {
namespace {

constexpr uint64_t kMaxFileBytes = uint64_t{1} << 30;  // the largest published file has 33 MB

// Ids of the post-processor must be those of tokens, since a model indexes its embeddings with
// them.
std::vector<int32_t> checked_ids(const std::vector<int64_t>& ids, const Bpe& model,
                                 const AddedTokens& added, const std::string& where) {
  std::vector<int32_t> checked;
  for (const int64_t id : ids) {
    const bool fits = id >= 0 && id <= INT32_MAX;
    const auto narrow = static_cast<int32_t>(fits ? id : -1);
    if (!model.vocabulary().contains(narrow) && !added.find(narrow)) {
      bad_input("{}: the post-processor adds the id {}, which no token has", where, id);
    }
    checked.push_back(narrow);
  }
  return checked;
}

std::string with_thousands(int64_t number) {
  std::string digits = fmt::to_string(number);
  for (size_t end = digits.size(); end > 3; end -= 3) digits.insert(end - 3, 1, ',');
  return digits;
}

// The joined text, marked so that only segments that may be special can spell special tokens.
MarkedText join(std::span<const Segment> segments, bool recognise_special) {
  MarkedText joined;
  size_t n_bytes = 0;
  bool is_all_special = recognise_special;
  for (const Segment& segment : segments) {
    n_bytes += segment.text.size();
    is_all_special = is_all_special && segment.may_be_special;
  }
  joined.text.reserve(n_bytes);
  if (!is_all_special) joined.marks.reserve(n_bytes);
  for (const Segment& segment : segments) {
    joined.text.append(segment.text);
    const bool is_marked = recognise_special && segment.may_be_special;
    if (!is_all_special) joined.marks.append(segment.text.size(), static_cast<char>(is_marked));
  }
  return joined;
}

// One text on its way to ids.
class Encoding {
 public:
  explicit Encoding(const Tokenizer::Parts& parts, std::vector<int32_t>& ids)
      : parts_(parts), ids_(ids) {}

  void append(const MarkedText& text) {
    for (const TextPart& part : parts_.added.split_raw(text)) {
      if (part.id) {
        ids_.push_back(*part.id);
      } else {
        append_normalized(normalize(parts_.normalizer, text.part(part.begin, part.end)),
                          part.begin == 0);
      }
    }
  }

 private:
  void append_normalized(const MarkedText& text, bool is_text_start) {
    for (const TextPart& part : parts_.added.split_normalized(text)) {
      if (part.id) {
        ids_.push_back(*part.id);
      } else {
        append_words(text.text.substr(part.begin, part.end - part.begin),
                     is_text_start && part.begin == 0);
      }
    }
  }

  void append_words(std::string text, bool is_text_start) {
    const Words words = pre_tokenize(parts_.pre_tokenizer, std::move(text), is_text_start);
    for (const Words::Range& range : words.ranges)
      parts_.model.encode_word(words.word(range), ids_, scratch_);
  }

  const Tokenizer::Parts& parts_;
  std::vector<int32_t>& ids_;
  Bpe::Scratch scratch_;
};

}  // namespace

std::optional<std::string_view> Tokenizer::Parts::token_to_decode(int32_t id,
                                                                  bool skip_special) const {
  if (const AddedToken* token = added.find(id)) {
    if (skip_special && token->is_special) return std::nullopt;
    return token->content;
  }
  return model.vocabulary().contains(id) ? std::optional(model.vocabulary().piece(id))
                                         : std::nullopt;
}

Tokenizer Tokenizer::load(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "tokenizer.json";
  return parse(read_text_file(file, kMaxFileBytes), file.string());
}

Tokenizer Tokenizer::parse(std::string_view json, std::string_view where_view) {
  const std::string where(where_view);
  TokenizerSpec spec = read_tokenizer_json(json, where);
  Bpe model(std::move(spec.model), where + ".model");
  AddedTokens added(std::move(spec.added_tokens), model.vocabulary(), spec.normalizer,
                    where + ".added_tokens");
  std::vector<int32_t> prefix_ids = checked_ids(spec.prefix_ids, model, added, where);
  std::vector<int32_t> suffix_ids = checked_ids(spec.suffix_ids, model, added, where);
  return Tokenizer(std::unique_ptr<Parts>(new Parts{
      std::move(model), std::move(added), std::move(spec.normalizer), std::move(spec.pre_tokenizer),
      std::move(spec.decoder), std::move(prefix_ids), std::move(suffix_ids)}));
}

Tokenizer::Tokenizer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

std::vector<int32_t> Tokenizer::encode(std::string_view text, EncodeOptions options) const {
  const Segment segment{std::string(text), true};
  return encode(std::span(&segment, 1), options);
}

std::vector<int32_t> Tokenizer::encode(std::span<const Segment> segments,
                                       EncodeOptions options) const {
  const MarkedText text = join(segments, options.recognise_special);
  if (const std::optional<size_t> offset = find_invalid_utf8(text.text)) {
    bad_input("the text is not valid UTF-8: byte 0x{:02x} at offset {} of {}",
              static_cast<unsigned char>(text.text[*offset]), *offset, text.text.size());
  }
  std::vector<int32_t> ids;
  if (options.add_special) ids = parts_->prefix_ids;
  Encoding(*parts_, ids).append(text);
  if (options.add_special)
    ids.insert(ids.end(), parts_->suffix_ids.begin(), parts_->suffix_ids.end());
  return ids;
}

std::string Tokenizer::decode(std::span<const int32_t> ids, bool skip_special) const {
  DecodeStream stream(parts_->decoder);
  std::string text;
  for (const int32_t id : ids) {
    if (const auto token = parts_->token_to_decode(id, skip_special)) text += stream.push(*token);
  }
  return text += stream.finish();
}

std::string Tokenizer::bytes_of(int32_t id) const {
  if (is_special(id)) return piece(id);
  const std::optional<std::string_view> token = parts_->token_to_decode(id, false);
  return token ? bytes_of_token(parts_->decoder, *token) : "";
}

std::string Tokenizer::piece(int32_t id) const {
  return std::string(parts_->token_to_decode(id, false).value_or(""));
}

std::optional<int32_t> Tokenizer::id_of(std::string_view piece) const {
  const std::optional<int32_t> id = parts_->added.find(piece);
  return id ? id : parts_->model.vocabulary().find(piece);
}

bool Tokenizer::is_special(int32_t id) const {
  const AddedToken* token = parts_->added.find(id);
  return token && token->is_special;
}

int32_t Tokenizer::n_vocab() const {
  const auto& added = parts_->added.by_id();
  return std::max(parts_->model.vocabulary().n_ids(),
                  added.empty() ? 0 : added.rbegin()->first + 1);
}

std::vector<int32_t> Tokenizer::special_ids() const {
  std::vector<int32_t> ids;
  for (const auto& [id, token] : parts_->added.by_id()) {
    if (token.is_special) ids.push_back(id);
  }
  return ids;
}

const std::vector<std::string>& Tokenizer::notes() const {
  return parts_->added.notes();
}

std::string Tokenizer::description() const {
  const auto spells_bytes = [](const auto& step) {
    return std::holds_alternative<SpellBytes>(step);
  };
  const bool is_byte_level =
      std::any_of(parts_->pre_tokenizer.begin(), parts_->pre_tokenizer.end(), spells_bytes);
  const char* kind = is_byte_level                       ? "byte-level "
                     : parts_->model.has_byte_fallback() ? "byte-fallback "
                                                         : "";
  const Vocabulary& vocabulary = parts_->model.vocabulary();
  const auto& added = parts_->added.by_id();
  const auto n_new = std::count_if(added.begin(), added.end(), [&](const auto& entry) {
    return !vocabulary.contains(entry.first);
  });
  return fmt::format("{}BPE, {} tokens, {} special", kind,
                     with_thousands(static_cast<int64_t>(vocabulary.n_pieces()) + n_new),
                     with_thousands(static_cast<int64_t>(special_ids().size())));
}

}  // namespace ft
