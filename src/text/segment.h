// A piece of prompt text with its provenance.
#pragma once

#include <string>
#include <vector>

namespace ft {

/// Text made by the chat template may spell special tokens; text from a message's content may not.
struct Segment {
  std::string text;
  bool may_be_special = true;
};

}  // namespace ft
