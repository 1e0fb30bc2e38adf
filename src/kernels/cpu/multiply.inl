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
  int fewest_decoded = 1;  // rows for which weights are decoded, where a dot may choose
};

/// sums[m * kWeights + i]: of row tile.n + i of weights and row first + m of activations.
template <int kWeights>
FT_INLINE void store_sums(const Product& p, const Tile& tile, int64_t first, const float* sums) {
  for (int m = 0; m < tile.n_rows; ++m) {
    float* y = p.y.row(p.y_rows == nullptr ? first + m : p.y_rows[first + m]) + tile.n;
    for (int i = 0; i < tile.n_weights; ++i) {
      const float plain = sums[m * kWeights + i];
      const float sum = p.bias == nullptr ? plain : plain + p.bias[tile.n + i];
      y[i] = p.accumulate ? y[i] + sum : sum;
    }
  }
}

/// Rows of activations that are taken together: they stay in the second-level cache while weights
/// go by.
template <typename D>
FT_INLINE int64_t block_rows(const Packed& x) {
  constexpr int64_t kBlockBytes = 256 << 10;
  constexpr int64_t kLeastRows = 12;
  const int64_t n = kBlockBytes / (x.stride + 1);
  const int64_t at_least = n > kLeastRows ? n : kLeastRows;
  const int64_t whole = (at_least + kGroupRows<D> - 1) / kGroupRows<D> * kGroupRows<D>;
  return whole < D::kRows ? whole : D::kRows;
}

/// Whether weights may be decoded for steps of n_rows; one row never pays.
template <typename D>
FT_INLINE bool may_decode(int64_t n_rows) {
  return D::kDecoding == Decoding::kAlways || (D::kDecoding == Decoding::kForMany && n_rows > 1);
}

/// Some rows of weights times all rows of activations. Weights are decoded once for a block of
/// activations where that pays. scratch: D::decoded_bytes(). A function of its own, since it is much
/// code for each format.
template <typename D>
__attribute__((noinline)) void multiply_rows(const Product& p, const WeightRows& range,
                                             uint8_t* scratch) {
  float sums[D::kWeights * D::kRows];
  const uint8_t* rows[D::kRows];
  const int64_t n_block = block_rows<D>(p.x);
  for (int64_t block = 0; block < p.n_rows; block += n_block) {
    const int64_t n_left = p.n_rows - block;
    Tile tile = {
        .w = p.w, .rows = rows, .n_rows = static_cast<int>(n_left < n_block ? n_left : n_block)};
    for (int i = 0; i < tile.n_rows; ++i)
      rows[i] = p.x.row(p.x_rows == nullptr ? block + i : p.x_rows[block + i]);
    for (tile.n = range.begin; tile.n < range.end; tile.n += D::kWeights) {
      const int64_t n_weights = range.end - tile.n;
      tile.n_weights = static_cast<int>(n_weights < D::kWeights ? n_weights : D::kWeights);
      if (may_decode<D>(tile.n_rows) &&
          (D::kDecoding == Decoding::kAlways || tile.n_rows >= p.fewest_decoded)) {
        D::decode(tile, scratch);
        tile.decoded = scratch;
      }
      D::multiply(tile, sums);
      store_sums<D::kWeights>(p, tile, block, sums);
    }
  }
}

/// Rows of weights in a piece of work: enough that handing them out costs nothing, few enough that
/// all members are busy until the end, and as many as a dot takes at once.
template <typename D>
FT_INLINE int64_t grain_of(const Team& team, int64_t n_rows, int64_t row_bytes) {
  constexpr int64_t kLeastRows = D::kWeights > 16 ? D::kWeights : 16;
  constexpr int64_t kMostBytes = 256 << 10;
  const int64_t fair = n_rows / (4 * team.n_threads());
  const int64_t most = kMostBytes / (row_bytes + 1);
  const int64_t grain = fair < most ? fair : most;
  return grain > kLeastRows ? grain / D::kWeights * D::kWeights : kLeastRows;
}
