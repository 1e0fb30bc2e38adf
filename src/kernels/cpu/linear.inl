// Dense multiplications and the embedding.

template <bool kExact>
void linear(Lane& lane, const LinearArgs& args) {
  const Arena::Scope scope(*lane.arena);
  visit_format(args.w.format, [&](auto format) {
    using D = Dot<decltype(format), kExact>;
    const Packed packed = pack_rows<D>(lane, args.x, args.w.cols, 1, 0);
    const int64_t decoded_bytes = args.x.rows > 1 ? D::decoded_bytes(args.w.cols) : 0;
    uint8_t* decoded = lane.arena->alloc<uint8_t>(decoded_bytes * lane.team->n_threads());
    const int64_t grain = grain_of(*lane.team, args.w.rows, args.w.row_bytes);
    const Product product = {.w = args.w,
                             .x = packed,
                             .n_rows = args.x.rows,
                             .y = args.y,
                             .bias = args.bias,
                             .accumulate = args.accumulate};
    lane.team->run(args.w.rows, grain, [&](int64_t begin, int64_t end, int member) {
      multiply_rows<D>(product, {begin, end}, decoded + member * decoded_bytes);
    });
  });
}

/// y[c] = sum_n x[n] w[n, c], n ascending, for one head and one row of activations.
template <typename F>
FT_INLINE void transposed_row(const WeightView& w, const float* x, float* y) {
  constexpr int kSegment = kSegmentOf<F>;
  alignas(64) float values[kSegment];
  for (int64_t c = 0; c < w.cols; ++c) y[c] = 0;
  for (int64_t n = 0; n < w.rows; ++n) {
    for (int64_t s = 0; s * kSegment < w.cols; ++s) {
      decode_segment<F, true>(w, n, s, values);
      const int64_t left = w.cols - s * kSegment;
      const int count = static_cast<int>(left < kSegment ? left : kSegment);
      float* out = y + s * kSegment;
      for (int i = 0; i < count; ++i) {
        out[i] = fma32(values[i % F::kChunkValues * kPartials + i / F::kChunkValues], x[n], out[i]);
      }
    }
  }
}

template <bool kExact>
void head_linear(Lane& lane, const HeadLinearArgs& args) {
  const Arena::Scope scope(*lane.arena);
  visit_format(args.w.format, [&](auto format) {
    using F = decltype(format);
    using D = Dot<F, kExact>;
    Packed packed;
    if (!args.is_transposed)
      packed = pack_rows<D>(lane, args.x, args.w.cols, args.n_heads, args.x_head);
    lane.team->run(args.x.rows * args.n_heads, 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t r = i / args.n_heads;
        const int64_t h = i % args.n_heads;
        const WeightView w = args.w.slice(h * args.head_rows + args.first, args.count);
        float* y = args.y.row(r) + h * args.y_head;
        if (args.is_transposed) {
          transposed_row<F>(w, args.x.row(r) + h * args.x_head, y);
        } else {
          const Product product = {.w = w,
                                   .x = packed.from(i),
                                   .n_rows = 1,
                                   .y = {.data = y, .rows = 1, .cols = args.count}};
          multiply_rows<D>(product, {0, args.count}, nullptr);
        }
      }
    });
  });
}

void embed(Lane& lane, const EmbedArgs& args) {
  visit_format(args.table.format, [&](auto format) {
    using F = decltype(format);
    lane.team->run(args.y.rows, 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t r = begin; r < end; ++r) {
        const int64_t n = args.tokens[r];
        const uint8_t* codes = args.table.codes + n * args.table.row_bytes;
        for (int64_t k = 0; k < args.table.cols; ++k) {
          args.y.row(r)[k] = F::dequantise(
              codes + k / F::kChunkValues * kChunkBytes, static_cast<int>(k % F::kChunkValues),
              scale_row<F>(args.table, n), F::kBlock == 0 ? 0 : k / F::kBlock, args.table.factor);
        }
      }
    });
  });
}
