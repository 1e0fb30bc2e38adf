// The header of a safetensors file: names, types, shapes and places of tensors, all of it checked.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "files/tensor_entry.h"

namespace ft {

/// Parses a whole file: 8 bytes header length, a JSON header, the data. The entries come in the
/// header's order and point into `file`. The tensors must cover the data without overlap, hole or
/// rest; a shape times its type must give the bytes that its offsets span. `where` is the file's
/// name for messages. Errors: kBadInput, or kUnsupported for an element type that is not known,
/// with the file, the tensor and the numbers.
std::vector<TensorEntry> read_safetensors(std::span<const std::byte> file,
                                          const std::string& where);

}  // namespace ft
