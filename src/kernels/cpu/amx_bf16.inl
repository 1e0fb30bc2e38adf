// bf16 weights times activations that are rounded to bf16, on AMX tiles: for steps that may round. A
// row's sums depend on no other row.

struct AmxBf16Dot {
  static constexpr int kWeights = 2 * kTileRows;
  static constexpr int kRows = 128;
  static constexpr Decoding kDecoding = Decoding::kNever;
  static constexpr int kStep = 32;  // values of a tile's row
  static constexpr int kTileBytes = 1024;

  static FT_INLINE int64_t n_steps(int64_t cols) { return (cols + kStep - 1) / kStep; }
  static FT_INLINE int64_t packed_bytes(int64_t cols) { return RoundedDot::packed_bytes(cols); }
  static FT_INLINE int64_t decoded_bytes(int64_t) { return 0; }
  static FT_INLINE void decode(const Tile&, uint8_t*) {}
  static FT_INLINE void pack(const float* x, int64_t cols, uint8_t* to) {
    RoundedDot::pack(x, cols, to);
  }

  /// A group: for each step [pair of values][row].
  static FT_INLINE int64_t group_bytes(int64_t cols) { return n_steps(cols) * kTileBytes; }
  static FT_INLINE void group(const uint8_t* const* rows, int64_t cols, uint8_t* to) {
    for (int64_t s = 0; s < n_steps(cols); ++s, to += kTileBytes) {
      Ints r[kTileRows];
      for (int i = 0; i < kTileRows; ++i) r[i] = load_ints(rows[i] + s * 2 * kStep);
      transpose_words(r);
      for (int i = 0; i < kTileRows; ++i) store_ints(to + 64 * i, r[i]);
    }
  }

  /// Up to 16 rows of weights as a first factor, step by step.
  struct Weights {
    const WeightView& w;
    int64_t n;
    int count;
  };
  struct Rows {
    const uint8_t* begin;
    int64_t stride;
  };
  /// One step of them. What lies behind the edges of the matrix becomes zero, in `edge`.
  static FT_INLINE Rows rows_at(const Weights& weights, int64_t step, uint8_t* edge) {
    const WeightView& w = weights.w;
    const uint8_t* from = w.codes + weights.n * w.row_bytes + step * 2 * kStep;
    const int64_t left = w.cols - step * kStep;
    if (weights.count == kTileRows && left >= kStep) return {from, w.row_bytes};
    written(edge);  // and read: what it held before has been loaded
    __builtin_memset(edge, 0, kTileBytes);
    const auto n_bytes = static_cast<size_t>(2 * (left < kStep ? left : kStep));
    for (int i = 0; i < weights.count; ++i)
      __builtin_memcpy(edge + i * 2 * kStep, from + i * w.row_bytes, n_bytes);
    written(edge);
    return {edge, 2 * kStep};
  }

  /// From a tile of results, a row for each row of weights, to sums[m * kWeights + i].
  static FT_INLINE void turn_sums(const uint8_t* by_weight, float* sums) {
    Ints r[kTileRows];
    for (int i = 0; i < kTileRows; ++i) r[i] = load_ints(by_weight + 64 * i);
    store_turned(r, sums, kWeights);
  }

  /// 16 or 32 rows of weights times one or two groups of activations.
  template <bool kTwoWeights, bool kTwoGroups>
  static FT_INLINE void multiply_tiles(const Tile& tile, int first, float* sums) {
    alignas(64) uint8_t edge[kTileBytes];
    const int count = tile.n_weights < kTileRows ? tile.n_weights : kTileRows;
    const Weights low = {tile.w, tile.n, count};
    const Weights high = {tile.w, tile.n + kTileRows, tile.n_weights - kTileRows};
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int64_t s = 0; s < n_steps(tile.w.cols); ++s) {
      const Rows w = rows_at(low, s, edge);
      _tile_loadd(4, w.begin, w.stride);
      _tile_loadd(6, tile.rows[first] + s * kTileBytes, 64);
      _tile_dpbf16ps(0, 4, 6);
      if constexpr (kTwoWeights) {
        const Rows more = rows_at(high, s, edge);
        _tile_loadd(5, more.begin, more.stride);
        _tile_dpbf16ps(1, 5, 6);
      }
      if constexpr (kTwoGroups) {
        _tile_loadd(7, tile.rows[first + kTileRows] + s * kTileBytes, 64);
        _tile_dpbf16ps(2, 4, 7);
        if constexpr (kTwoWeights) _tile_dpbf16ps(3, 5, 7);
      }
    }
    float* second = sums + kTileRows * kWeights;
    _tile_stored(0, edge, 64);
    turn_sums(edge, sums);
    if constexpr (kTwoWeights) {
      _tile_stored(1, edge, 64);
      turn_sums(edge, sums + kTileRows);
    }
    if constexpr (kTwoGroups) {
      _tile_stored(2, edge, 64);
      turn_sums(edge, second);
    }
    if constexpr (kTwoWeights && kTwoGroups) {
      _tile_stored(3, edge, 64);
      turn_sums(edge, second + kTileRows);
    }
  }

  /// sums[m * kWeights + i]
  static FT_INLINE void multiply(const Tile& tile, float* sums) {
    const TileShapes shapes(64);
    written(tile.rows);
    for (int first = 0; first < tile.n_rows;
         first += 2 * kTileRows, sums += 2 * kTileRows * kWeights) {
      const bool two_groups = tile.n_rows - first > kTileRows;
      if (tile.n_weights > kTileRows) {
        two_groups ? multiply_tiles<true, true>(tile, first, sums)
                   : multiply_tiles<true, false>(tile, first, sums);
      } else {
        two_groups ? multiply_tiles<false, true>(tile, first, sums)
                   : multiply_tiles<false, false>(tile, first, sums);
      }
    }
  }
};

template <>
constexpr int kGroupRows<AmxBf16Dot> = kTileRows;
