// Rows of weights times packed rows of activations, tile by tile, for dense and expert matrices.

struct WeightRows {
  int64_t begin = 0;
  int64_t end = 0;
};

/// y[y_row(m), n] (+)= sum_k w[n, k] x[x_row(m), k] + bias[n] for rows m of activations.
struct Product {
  WeightView w = {};
  Packed x = {};
  int64_t n_rows = 0;
  const int32_t* x_rows = nullptr;  // [n_rows]; nullptr: row m itself
  TensorView y = {};
  const int32_t* y_rows = nullptr;  // [n_rows]; nullptr: row m itself
  const float* bias = nullptr;      // [w.rows]
  bool accumulate = false;
};

template <int kTile>
FT_INLINE void store_sums(const Product& p, const Tile& tile, int64_t first,
                          const float (*sums)[kTile]) {
  for (int m = 0; m < tile.n_rows; ++m) {
    float* y = p.y.row(p.y_rows == nullptr ? first + m : p.y_rows[first + m]) + tile.n;
    for (int i = 0; i < tile.n_weights; ++i) {
      const float sum = p.bias == nullptr ? sums[i][m] : sums[i][m] + p.bias[tile.n + i];
      y[i] = p.accumulate ? y[i] + sum : sum;
    }
  }
}

/// Some rows of weights times all rows of activations. These are taken in blocks that stay in the
/// second-level cache while weights go by; weights are decoded once for a block where that pays.
/// scratch: D::decoded_bytes(). A function of its own, since it is much code for each format.
template <typename D>
__attribute__((noinline)) void multiply_rows(const Product& p, const WeightRows& range,
                                             uint8_t* scratch) {
  constexpr int64_t kBlockRows = 64;
  float sums[D::kWeights][D::kTile];
  for (int64_t block = 0; block < p.n_rows; block += kBlockRows) {
    const int64_t block_end = p.n_rows - block < kBlockRows ? p.n_rows : block + kBlockRows;
    const bool is_decoded = block_end - block >= D::kFewestDecoded;
    for (int64_t n = range.begin; n < range.end; n += D::kWeights) {
      const uint8_t* rows[D::kTile];
      const int64_t n_left = range.end - n;
      Tile tile = {.w = p.w,
                   .n = n,
                   .n_weights = static_cast<int>(n_left < D::kWeights ? n_left : D::kWeights),
                   .rows = rows};
      if (is_decoded) {
        D::decode(tile, scratch);
        tile.decoded = scratch;
      }
      for (int64_t m = block; m < block_end; m += D::kTile) {
        tile.n_rows = static_cast<int>(block_end - m < D::kTile ? block_end - m : D::kTile);
        for (int i = 0; i < tile.n_rows; ++i)
          rows[i] = p.x.row(p.x_rows == nullptr ? m + i : p.x_rows[m + i]);
        D::multiply(tile, sums);
        store_sums<D::kTile>(p, tile, m, sums);
      }
    }
  }
}

/// Rows of weights in a piece of work: enough that handing them out costs nothing, few enough that
/// all members are busy until the end.
FT_INLINE int64_t grain_of(const Team& team, int64_t n_rows, int64_t row_bytes) {
  constexpr int64_t kLeastRows = 16;
  constexpr int64_t kMostBytes = 256 << 10;
  const int64_t fair = n_rows / (4 * team.n_threads());
  const int64_t most = kMostBytes / (row_bytes + 1);
  const int64_t grain = fair < most ? fair : most;
  return grain > kLeastRows ? grain : kLeastRows;
}
