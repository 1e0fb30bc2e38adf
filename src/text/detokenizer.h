// Ids to text as they come, never half a character.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace ft {

class DecodeStream;
class Tokenizer;

/// Joined outputs of push() and finish() equal Tokenizer::decode of the same ids, for every
/// sequence of ids. Time and memory go with the ids, not with their square. A run of byte-fallback
/// tokens is held back until it ends, since the reference gives up all of a run that is not valid
/// UTF-8 as a whole.
class Detokenizer {
 public:
  Detokenizer(const Tokenizer& tokenizer,
              bool skip_special);  // `tokenizer` must outlive it and not be moved
  Detokenizer(Detokenizer&&) noexcept;
  Detokenizer& operator=(Detokenizer&&) noexcept;
  ~Detokenizer();

  /// The text that this id completes; may be empty. Whole characters.
  std::string push(int32_t id);

  /// What is left; an incomplete character becomes U+FFFD. Nothing may be pushed after it.
  std::string finish();

 private:
  const Tokenizer* tokenizer_;
  bool skip_special_;
  std::unique_ptr<DecodeStream> stream_;
};

}  // namespace ft
