// tokenizer.json: text to ids and back, exactly as the reference implementation does it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/segment.h"

namespace ft {

class Tokenizer {
 public:
  struct EncodeOptions {
    bool add_special = true;        // run the post-processor (bos and the like)
    bool recognise_special = true;  // "<|im_end|>" in the text becomes its token
  };

  /// Reads `folder`/tokenizer.json. Errors: kIo, kBadInput for a malformed file, kUnsupported with
  /// the name of a model, normalizer, pre-tokenizer, post-processor or decoder type that is not
  /// known (and the list of those that are).
  static Tokenizer load(const std::filesystem::path& folder);
  static Tokenizer parse(std::string_view json, std::string_view where);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  /// Errors: kBadInput with the byte offset for text that is not valid UTF-8; kBadInput for text
  /// that a pattern of the file needs too many steps for, or that a normalizer blows up.
  std::vector<int32_t> encode(std::string_view text, EncodeOptions options) const;
  std::vector<int32_t> encode(std::string_view text) const { return encode(text, EncodeOptions{}); }

  /// One text in pieces: as encode() of the joined text, but special tokens are recognised only
  /// where every byte of them comes from segments that may be special. Added tokens that are not
  /// special match everywhere.
  std::vector<int32_t> encode(std::span<const Segment> segments, EncodeOptions options) const;

  /// Ids outside the vocabulary are skipped. Incomplete UTF-8 becomes U+FFFD, as the reference
  /// does. With `skip_special` special tokens are left out.
  std::string decode(std::span<const int32_t> ids, bool skip_special) const;

  /// The raw bytes that one id contributes to the text, special tokens as they are spelled; empty
  /// for an unknown id.
  std::string bytes_of(int32_t id) const;

  /// The vocabulary's spelling of an id ("Ġthe"); empty for an unknown id.
  std::string piece(int32_t id) const;
  std::optional<int32_t> id_of(std::string_view piece) const;
  bool is_special(int32_t id) const;

  int32_t n_vocab() const;                   // largest id + 1, added tokens included
  std::vector<int32_t> special_ids() const;  // ascending
  std::string description() const;  // "byte-level BPE, 4,096 tokens, 3 special", for `ft inspect`

  /// What whoever loaded the file should know, a sentence each: where ids are
  /// not those of the file.
  const std::vector<std::string>& notes() const;

  struct Parts;  // tokenizer_parts.h

 private:
  friend class Detokenizer;
  explicit Tokenizer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace ft
