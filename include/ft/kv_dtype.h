// How a session keeps keys and values.
#pragma once

namespace ft {

enum class KvDType {
  kBF16,
  kF32,
  kFp8,  // e4m3, with a float32 scale for each key and each value
};

}  // namespace ft
