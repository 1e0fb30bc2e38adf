// How dense weights are held.
#pragma once

namespace ft {

enum class DenseDType {
  kFile,  // as the file has them
  kQ8,    // plain matrices as whole numbers of 8 bits with a scale for each 32, made at load
};

}  // namespace ft
