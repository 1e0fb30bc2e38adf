// Activations as the kernels of a format read them: packed once for an operation, read for every
// row of weights. How a packed row looks is a matter between pack() and multiply() of one Dot.

struct Packed {
  const uint8_t* rows = nullptr;
  int64_t stride = 0;

  FT_INLINE const uint8_t* row(int64_t r) const { return rows + r * stride; }
  FT_INLINE Packed from(int64_t r) const { return {row(r), stride}; }
};

/// Rows of activations that a dot wants as one group; 1: each by itself.
template <typename D>
constexpr int kGroupRows = 1;
template <typename D>
constexpr bool kIsGrouped = (kGroupRows<D> > 1);

/// Largest magnitude to 127, round to nearest even by adding 1.5 * 2^23.
template <int kBlock>
FT_INLINE void quantise_block(const float* x, int8_t* quants, float* scale) {
  uint32_t largest = 0;
  for (int i = 0; i < kBlock; ++i) {
    const uint32_t magnitude = std::bit_cast<uint32_t>(x[i]) & 0x7FFFFFFFu;
    largest = magnitude > largest ? magnitude : largest;
  }
  const float amax = std::bit_cast<float>(largest);
  if (!(amax >= 0x1p-100f)) {  // also catches NaN: such a row is zero here, and NaN stays visible
                               // in the residual stream
    *scale = 0;
    for (int i = 0; i < kBlock; ++i) quants[i] = 0;
    return;
  }
  const float d = amax / 127.0f;
  const float inverse = 1.0f / d;
  *scale = d;
  for (int i = 0; i < kBlock; ++i) {
    const float shifted = fma32(x[i], inverse, 12582912.0f);
    quants[i] = static_cast<int8_t>(std::bit_cast<int32_t>(shifted) - 0x4B400000);
  }
}

/// Packs the n_rows * n_pieces rows of `cols` values at x.row(r) + piece * piece_stride, in that
/// order. Little work is not handed out: waking the team would take longer.
template <typename D>
FT_INLINE Packed pack_rows(Lane& lane, const TensorView& x, int64_t cols, int64_t n_pieces,
                           int64_t piece_stride) {
  constexpr int64_t kGrainValues = 8192;
  const int64_t stride = D::packed_bytes(cols);
  uint8_t* rows = lane.arena->alloc<uint8_t>(x.rows * n_pieces * stride);
  lane.team->run(x.rows * n_pieces, kGrainValues / cols + 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      D::pack(x.row(i / n_pieces) + i % n_pieces * piece_stride, cols, rows + i * stride);
    }
  });
  return {rows, stride};
}

/// Groups of packed rows, for a dot that takes them together: group g is of the rows index[g *
/// kGroupRows<D> ...], or of these themselves, where the last of n_rows stands for missing ones.
template <typename D>
FT_INLINE Packed group_rows(Lane& lane, const Packed& rows, int64_t cols, int64_t n_rows,
                            const int32_t* index = nullptr) {
  constexpr int kCount = kGroupRows<D>;
  const int64_t n_groups = (n_rows + kCount - 1) / kCount;
  const int64_t n_bytes = D::group_bytes(cols);
  uint8_t* groups = lane.arena->alloc<uint8_t>(n_groups * n_bytes);
  lane.team->run(n_groups, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t g = begin; g < end; ++g) {
      const uint8_t* from[kCount];
      for (int i = 0; i < kCount; ++i) {
        const int64_t r = g * kCount + i < n_rows ? g * kCount + i : n_rows - 1;
        from[i] = rows.row(index == nullptr ? r : index[r]);
      }
      D::group(from, cols, groups + g * n_bytes);
    }
  });
  return {groups, n_bytes / kCount};
}
