// What the dots on AMX tiles share: a group of 16 rows of activations is the second factor, 16 rows
// of weights are the first, and a tile of results has a row for each row of weights.

constexpr int kTileRows = 16;

/// What has been written is in memory: GCC's tile loads do not tell the compiler what they read.
FT_INLINE void written(const void* what) {
  asm volatile("" : : "r"(what) : "memory");
}

/// A thread's tiles have shapes only while it multiplies: a configured thread costs the system more at
/// every switch.
class TileShapes {
 public:
  /// Of first factors (tiles 4 and 5): n_bytes in each of 16 rows. Second factors (6 and 7): n_bytes /
  /// 4 rows of 16 words. Results (0 to 3): 16 rows of 16 words.
  FT_INLINE explicit TileShapes(int n_bytes) {
    struct alignas(64) Palette {
      uint8_t palette = 1;
      uint8_t start_row = 0;
      uint8_t reserved[14] = {};
      uint16_t row_bytes[16] = {};
      uint8_t n_rows[16] = {};
    } shapes;
    for (int t = 0; t < 8; ++t) {
      const bool is_first = t == 4 || t == 5;
      const bool is_second = t > 5;
      shapes.row_bytes[t] = static_cast<uint16_t>(is_first ? n_bytes : 64);
      shapes.n_rows[t] = static_cast<uint8_t>(is_second ? n_bytes / 4 : kTileRows);
    }
    written(&shapes);
    _tile_loadconfig(&shapes);
  }
  FT_INLINE ~TileShapes() { _tile_release(); }
  TileShapes(const TileShapes&) = delete;
  TileShapes& operator=(const TileShapes&) = delete;
};

/// Word j of row i becomes word i of row j.
FT_INLINE void transpose_words(Ints (&r)[kTileRows]) {
  Ints t[kTileRows];
  for (int i = 0; i < 16; i += 4) {
    const Ints a = _mm512_unpacklo_epi32(r[i], r[i + 1]);
    const Ints b = _mm512_unpackhi_epi32(r[i], r[i + 1]);
    const Ints c = _mm512_unpacklo_epi32(r[i + 2], r[i + 3]);
    const Ints d = _mm512_unpackhi_epi32(r[i + 2], r[i + 3]);
    t[i] = _mm512_unpacklo_epi64(a, c);
    t[i + 1] = _mm512_unpackhi_epi64(a, c);
    t[i + 2] = _mm512_unpacklo_epi64(b, d);
    t[i + 3] = _mm512_unpackhi_epi64(b, d);
  }
  // t[4 * i + j]: word 4 * q + j of rows 4 * i to 4 * i + 3 in quarter q.
  for (int j = 0; j < 4; ++j) {
    const Ints a = _mm512_shuffle_i32x4(t[j], t[4 + j], 0x88);
    const Ints b = _mm512_shuffle_i32x4(t[j], t[4 + j], 0xDD);
    const Ints c = _mm512_shuffle_i32x4(t[8 + j], t[12 + j], 0x88);
    const Ints d = _mm512_shuffle_i32x4(t[8 + j], t[12 + j], 0xDD);
    r[j] = _mm512_shuffle_i32x4(a, c, 0x88);
    r[8 + j] = _mm512_shuffle_i32x4(a, c, 0xDD);
    r[4 + j] = _mm512_shuffle_i32x4(b, d, 0x88);
    r[12 + j] = _mm512_shuffle_i32x4(b, d, 0xDD);
  }
}

/// Word j of row i goes to to[j * stride + i].
FT_INLINE void store_turned(Ints (&r)[kTileRows], float* to, int64_t stride) {
  transpose_words(r);
  for (int j = 0; j < kTileRows; ++j) store_ints(to + j * stride, r[j]);
}
