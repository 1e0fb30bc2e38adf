// Dense multiplications and the embedding.

template <typename D>
FT_INLINE void linear_parts(Lane& lane, const LinearArgs* parts, int n_parts) {
  const Arena::Scope scope(*lane.arena);
  const TensorView& x = parts[0].x;
  const int64_t cols = parts[0].w.cols;
  Packed packed = pack_rows<D>(lane, x, cols, 1, 0);
  if constexpr (kIsGrouped<D>) packed = group_rows<D>(lane, packed, cols, x.rows);
  const int64_t decoded_bytes = may_decode<D>(x.rows) ? D::decoded_bytes(cols) : 0;
  uint8_t* decoded = lane.arena->alloc<uint8_t>(decoded_bytes * lane.team->n_threads());
  int64_t n_rows = 0;
  for (int p = 0; p < n_parts; ++p) n_rows += parts[p].w.rows;
  const int64_t grain = grain_of<D>(*lane.team, n_rows, parts[0].w.row_bytes);
  const auto pieces_of = [&](const LinearArgs& part) { return (part.w.rows + grain - 1) / grain; };
  int64_t n_pieces = 0;
  for (int p = 0; p < n_parts; ++p) n_pieces += pieces_of(parts[p]);
  lane.team->run(n_pieces, 1, [&](int64_t begin, int64_t end, int member) {
    for (int64_t i = begin; i < end; ++i) {
      const LinearArgs* part = parts;
      int64_t piece = i;
      while (piece >= pieces_of(*part)) piece -= pieces_of(*part++);
      const int64_t first = piece * grain;
      const int64_t left = part->w.rows - first;
      const Product product = {.w = part->w,
                               .x = packed,
                               .n_rows = x.rows,
                               .y = part->y,
                               .bias = part->bias,
                               .accumulate = part->accumulate,
                               .fewest_decoded = lane.crossovers.at(part->w.format).decoded};
      multiply_rows<D>(product, {first, left < grain ? part->w.rows : first + grain},
                       decoded + member * decoded_bytes);
    }
  });
}

template <bool kExact>
void linear_group(Lane& lane, const LinearGroupArgs& args) {
  for (int first = 0, end = 0; first < args.n_parts; first = end) {  // runs of one format
    const FormatId format = args.parts[first].w.format;
    while (end < args.n_parts && args.parts[end].w.format == format) ++end;
    visit_format(format, [&](auto f) {
      const bool may_round = lane.may_round && !args.parts[first].keeps_x;
      visit_dot<decltype(f), kExact>(lane, may_round, args.parts[first].x.rows, [&](auto dot) {
        linear_parts<decltype(dot)>(lane, args.parts + first, end - first);
      });
    });
  }
}

template <bool kExact>
void linear(Lane& lane, const LinearArgs& args) {
  linear_group<kExact>(lane, {.parts = &args, .n_parts = 1});
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
