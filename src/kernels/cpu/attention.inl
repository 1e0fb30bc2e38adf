// Attention over pages of keys and values. Queries are taken in tiles, positions in blocks at
// absolute multiples, and a query's records of its blocks are merged in ascending order, so that a
// result does not depend on tiles, on threads, or on how the prompt was cut into steps.

/// merged = merged and block, in this order: [n] sums, then the tail.
FT_INLINE void merge_record(float* merged, const float* block, int64_t n) {
  const float largest = block[n] > merged[n] ? block[n] : merged[n];
  const float before = exp32(merged[n] - largest);
  const float now = exp32(block[n] - largest);
  for (int64_t i = 0; i < n; i += kLanes) {
    const Floats scaled = load_floats(block + i) * splat(now);
    store_floats(merged + i, fma32(load_floats(merged + i), splat(before), scaled));
  }
  merged[n] = largest;
  merged[n + 1] = fma32(merged[n + 1], before, block[n + 1] * now);
}

/// The result of a head: its merged record and its sink, divided by the total.
FT_INLINE void finish_head(const AttentionArgs& args, int64_t r, int64_t h, const float* merged) {
  const float* tail = merged + value_width(args.kv);
  float factor = 1 / tail[1];
  if (args.sinks != nullptr) {
    const float largest = args.sinks[h] > tail[0] ? args.sinks[h] : tail[0];
    const float scaled = exp32(tail[0] - largest);
    factor = scaled / fma32(tail[1], scaled, exp32(args.sinks[h] - largest));
  }
  float* out = args.out.row(r) + h * args.kv.d_v;
  for (int64_t c = 0; c < args.kv.d_v; ++c) out[c] = merged[c] * factor;
}

FT_INLINE void pack_queries(const AttentionArgs& args, const QueryTile& tile, float* to) {
  const int64_t n = tile.n_heads * args.kv.d_k;
  for (int64_t r = 0; r < tile.n_rows; ++r) {
    const float* from = args.q.row(tile.row + r) + tile.head * args.kv.d_k;
    for (int64_t i = 0; i < n; ++i) to[r * n + i] = args.scale * from[i];
  }
}

/// Computes the block's records into the workspace; false if no row attends to the block.
FT_INLINE bool run_block(const AttentionArgs& args, const QueryTile& tile, const Workspace& space,
                         int64_t block) {
  BlockWork work = {args, tile, space, block * kBlockPositions, {kBlockPositions, 0}, {}};
  for (int64_t r = 0; r < tile.n_rows; ++r) {
    const Span span = shifted(span_of_row(args, tile.row + r), -work.first);
    work.rows[r] = overlap({0, kBlockPositions}, span);
    if (work.rows[r].begin >= work.rows[r].end) continue;
    work.all = {smaller(work.all.begin, work.rows[r].begin),
                larger(work.all.end, work.rows[r].end)};
  }
  if (work.all.begin >= work.all.end) return false;
  block_function_for(args.kv, work.n_queries())(work);
  return true;
}

/// All blocks of one tile, one after the other.
void attend_tile(const AttentionArgs& args, const QueryTile& tile, float* memory) {
  const int64_t n_queries = tile.n_rows * tile.n_heads;
  const Workspace space = workspace_at(memory, shape_of(args), n_queries);
  const auto bytes = static_cast<size_t>(space.record) * sizeof(float);
  pack_queries(args, tile, space.queries);
  const Span all = span_of_rows(args, tile.row, tile.n_rows);
  for (int64_t b = all.begin / kBlockPositions; b < n_blocks_of(all.end); ++b) {
    if (!run_block(args, tile, space, b)) continue;
    for (int64_t q = 0; q < n_queries; ++q) {
      const Span span = span_of_row(args, tile.row + q / tile.n_heads);
      if (b < span.begin / kBlockPositions || b >= n_blocks_of(span.end)) continue;
      float* merged = space.merged + q * space.record;
      const float* block = space.block + q * space.record;
      if (b == span.begin / kBlockPositions) {
        __builtin_memcpy(merged, block, bytes);
      } else {
        merge_record(merged, block, space.record - kRecordTail);
      }
    }
  }
  for (int64_t q = 0; q < n_queries; ++q) {
    finish_head(args, tile.row + q / tile.n_heads, tile.head + q % tile.n_heads,
                space.merged + q * space.record);
  }
}

/// The tiles of rows [first, end) of a step: those of one sequence together, up to a tile's most.
struct TileCut {
  const AttentionArgs& args;
  int32_t* begins;  // [n + 1] rows
  int64_t n = 0;
  int64_t n_heads = 0;  // of a tile
  int64_t n_per_kv_head = 0;

  int64_t n_tiles() const { return n * n_per_kv_head * args.kv.n_kv_heads; }
  QueryTile tile(int64_t index) const {
    const int64_t group = args.n_heads / args.kv.n_kv_heads;
    const int64_t of_rows = index / (n_per_kv_head * args.kv.n_kv_heads);
    const int64_t of_heads = index % (n_per_kv_head * args.kv.n_kv_heads);
    const int64_t within = of_heads % n_per_kv_head * n_heads;
    return {.row = begins[of_rows],
            .n_rows = begins[of_rows + 1] - begins[of_rows],
            .head = of_heads / n_per_kv_head * group + within,
            .n_heads = smaller(n_heads, group - within)};
  }
};

TileCut cut_rows(const AttentionArgs& args, int64_t first, int64_t end, int32_t* begins) {
  const AttentionShape shape = shape_of(args);
  const int64_t group = args.n_heads / args.kv.n_kv_heads;
  TileCut cut = {args, begins, 0, heads_of_tile(shape), 0};
  cut.n_per_kv_head = (group + cut.n_heads - 1) / cut.n_heads;
  for (int64_t r = first; r < end; ++r) {
    const bool is_next = r > first && r - begins[cut.n - 1] < rows_of_tile(shape) &&
                         args.rows.page_tables[r] == args.rows.page_tables[r - 1];
    if (!is_next) begins[cut.n++] = static_cast<int32_t>(r);
  }
  begins[cut.n] = static_cast<int32_t>(end);
  return cut;
}

/// Few rows over many positions: each block of a tile is a piece of work of its own, and its records
/// go to `records`: [block, row, head, record].
void attend_split(Lane& lane, const TileCut& cut, const Span& rows, float* memory, float* records) {
  const AttentionArgs& args = cut.args;
  const AttentionShape shape = shape_of(args);
  const Span all = span_of_rows(args, rows.begin, rows.end - rows.begin);
  const int64_t first_block = all.begin / kBlockPositions;
  const int64_t n_blocks = n_blocks_of(all.end) - first_block;
  const int64_t record = record_floats(shape);
  const auto record_at = [&](int64_t block, int64_t r, int64_t h) {
    const int64_t row = (block - first_block) * (rows.end - rows.begin) + r - rows.begin;
    return records + (row * args.n_heads + h) * record;
  };
  lane.team->run(cut.n_tiles() * n_blocks, 1, [&](int64_t item, int64_t, int member) {
    const QueryTile tile = cut.tile(item / n_blocks);
    const int64_t block = first_block + item % n_blocks;
    const Workspace space =
        workspace_at(memory + member * workspace_floats(shape, args.rows.n_rows), shape,
                     tile.n_rows * tile.n_heads);
    pack_queries(args, tile, space.queries);
    if (!run_block(args, tile, space, block)) return;
    const auto bytes = static_cast<size_t>(tile.n_heads * record) * sizeof(float);
    for (int64_t r = 0; r < tile.n_rows; ++r) {
      __builtin_memcpy(record_at(block, tile.row + r, tile.head),
                       space.block + r * tile.n_heads * record, bytes);
    }
  });
  const int64_t n_heads = (rows.end - rows.begin) * args.n_heads;
  lane.team->run(n_heads, 8, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t r = rows.begin + i / args.n_heads;
      const int64_t h = i % args.n_heads;
      const Span span = span_of_row(args, r);
      const int64_t first = span.begin / kBlockPositions;
      float* merged = record_at(first, r, h);
      for (int64_t b = first + 1; b < n_blocks_of(span.end); ++b) {
        merge_record(merged, record_at(b, r, h), record - kRecordTail);
      }
      finish_head(args, r, h, merged);
    }
  });
}

void attention(Lane& lane, const AttentionArgs& args) {
  const Arena::Scope scope(*lane.arena);
  const AttentionShape shape = shape_of(args);
  const int64_t n_rows = args.rows.n_rows;
  const int64_t n_threads = lane.team->n_threads();
  const int64_t floats = workspace_floats(shape, n_rows);
  float* memory = lane.arena->alloc<float>(floats * n_threads);
  auto* begins = lane.arena->alloc<int32_t>(n_rows + 1);
  const TileCut whole = cut_rows(args, 0, n_rows, begins);
  const Span all = span_of_rows(args, 0, n_rows);
  const int64_t n_blocks = n_blocks_of(all.end) - all.begin / kBlockPositions;
  if (n_threads == 1 || n_blocks == 1 || whole.n_tiles() >= kPiecesPerThread * n_threads) {
    const int64_t n_tiles = whole.n_tiles();
    lane.team->run(n_tiles, 1, [&](int64_t item, int64_t, int member) {
      // The last rows, which attend to most, come first: nobody is left with a long piece.
      attend_tile(args, whole.tile(n_tiles - 1 - item), memory + member * floats);
    });
    return;
  }
  const int64_t row_floats = split_row_floats(shape, n_blocks);
  const int64_t most = larger(kMostSplitBytes / 4 / row_floats, 1);
  float* records = lane.arena->alloc<float>(smaller(n_rows, most) * row_floats);
  for (int64_t first = 0; first < n_rows; first += most) {
    const Span rows = {first, smaller(first + most, n_rows)};
    attend_split(lane, cut_rows(args, rows.begin, rows.end, begins), rows, memory, records);
  }
}
