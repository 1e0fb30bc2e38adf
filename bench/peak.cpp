// The loops are written as instructions: no compiler then finds that a sum of equal products is a
// product, and this file needs no flags of an instruction set.
#include "bench/peak.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <vector>

#include "base/check.h"
#include "bench/each_member.h"

namespace ft::bench {
namespace {

// clang-format off
// Registers 0 to 11 are twelve chains, as many as the deepest pipeline needs.
#define FT_TWELVE(OP) \
  OP("0") OP("1") OP("2") OP("3") OP("4") OP("5") OP("6") OP("7") OP("8") OP("9") OP("10") OP("11")
#define FT_SIX(OP) OP("0", "6") OP("1", "7") OP("2", "8") OP("3", "9") OP("4", "10") OP("5", "11")

#define FT_LOOP(BODY)                                                                     \
  asm volatile("vzeroall\n1:\n" BODY "dec %0\n\tjnz 1b\n\tvzeroupper\n"                  \
               : "+r"(n)                                                                  \
               :                                                                          \
               : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",    \
                 "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15")

#define FT_FMA_YMM(I) "vfmadd231ps %%ymm12, %%ymm13, %%ymm" I "\n\t"
#define FT_FMA_ZMM(I) "vfmadd231ps %%zmm12, %%zmm13, %%zmm" I "\n\t"
#define FT_DOT_YMM(I) "%{vex%} vpdpbusd %%ymm12, %%ymm13, %%ymm" I "\n\t"
#define FT_DOT_ZMM(I) "vpdpbusd %%zmm12, %%zmm13, %%zmm" I "\n\t"
#define FT_MADD(R, I, T)                                          \
  "vpmaddubsw %%" R "12, %%" R "13, %%" R T "\n\t"                \
  "vpmaddwd %%" R "14, %%" R T ", %%" R T "\n\t"                  \
  "vpaddd %%" R T ", %%" R I ", %%" R I "\n\t"
#define FT_MADD_YMM(I, T) FT_MADD("ymm", I, T)
#define FT_MADD_ZMM(I, T) FT_MADD("zmm", I, T)
#define FT_DOT_TILE(I) "tdpbssd %%tmm7, %%tmm6, %%tmm" I "\n\t"
#define FT_SIX_TILES \
  FT_DOT_TILE("0") FT_DOT_TILE("1") FT_DOT_TILE("2") FT_DOT_TILE("3") FT_DOT_TILE("4") FT_DOT_TILE("5")
// clang-format on

void fma_ymm(int64_t n) {
  FT_LOOP(FT_TWELVE(FT_FMA_YMM));
}
void fma_zmm(int64_t n) {
  FT_LOOP(FT_TWELVE(FT_FMA_ZMM));
}
void dot_ymm(int64_t n) {
  FT_LOOP(FT_TWELVE(FT_DOT_YMM));
}
void dot_zmm(int64_t n) {
  FT_LOOP(FT_TWELVE(FT_DOT_ZMM));
}
void madd_ymm(int64_t n) {
  FT_LOOP(FT_SIX(FT_MADD_YMM));
}
void madd_zmm(int64_t n) {
  FT_LOOP(FT_SIX(FT_MADD_ZMM));
}

/// All tiles are of 16 rows of 64 bytes, so that a result has 16 x 16 sums of 64 products each. Compilers
/// use no tiles by themselves.
void dot_tiles(int64_t n) {
  struct alignas(64) Palette {
    uint8_t palette = 1;
    uint8_t start_row = 0;
    uint8_t reserved[14] = {};
    uint16_t row_bytes[16] = {};
    uint8_t n_rows[16] = {};
  } shapes;
  for (int t = 0; t < 8; ++t) {
    shapes.row_bytes[t] = 64;
    shapes.n_rows[t] = 16;
  }
  asm volatile(
      "ldtilecfg %1\n\t"  // all tiles are zero after it
      "1:\n\t" FT_SIX_TILES "dec %0\n\tjnz 1b\n\ttilerelease\n"
      : "+r"(n)
      : "m"(shapes)
      : "cc");
}

/// What scalar kernels call for each product.
void fma_scalar(int64_t n) {
  float a = 0, b = 0, c = 0, d = 0;
  volatile float source = 1;  // unknown to the compiler
  const float x = source;
  for (; n > 0; --n) {
    a = std::fma(x, x, a);
    b = std::fma(x, x, b);
    c = std::fma(x, x, c);
    d = std::fma(x, x, d);
  }
  source = a + b + c + d;
}

constexpr PeakLoop kFmaYmm = {fma_ymm, 12 * 8};
constexpr PeakLoop kFmaZmm = {fma_zmm, 12 * 16};
constexpr PeakLoop kDotZmm = {dot_zmm, 12 * 64};
constexpr PeakLoop kDotTiles = {dot_tiles, 6 * 16 * 16 * 64};

struct Peak {
  std::string_view isa;
  PeakLoop float32;
  PeakLoop int8;
};

constexpr Peak kPeaks[] = {
    {"amx", kFmaZmm, kDotTiles},
    {"avx512_bf16", kFmaZmm, kDotZmm},
    {"avx512_vnni", kFmaZmm, kDotZmm},
    {"avx512", kFmaZmm, {madd_zmm, 6 * 64}},
    {"avx_vnni", kFmaYmm, {dot_ymm, 12 * 32}},
    {"avx2", kFmaYmm, {madd_ymm, 6 * 32}},
    {"scalar", {fma_scalar, 4}, {}},
};

}  // namespace

MultiplyPeak::MultiplyPeak(std::string_view isa) {
  const auto* peak = std::find_if(std::begin(kPeaks), std::end(kPeaks),
                                  [&](const Peak& p) { return p.isa == isa; });
  FT_CHECK(peak != std::end(kPeaks),
           "an instruction set without a multiply peak: add it to kPeaks");
  float_ = peak->float32;
  int8_ = peak->int8;
}

double MultiplyPeak::measure(Team& team, const PeakLoop& loop) {
  if (loop.run == nullptr) return 0;
  constexpr int64_t kRounds = 20000;
  constexpr std::chrono::milliseconds kTime(20);  // some turns of the scheduler
  using Clock = std::chrono::steady_clock;
  // Each member goes on until the time is over, and the sum of what all did counts: one that is
  // interrupted does not make the others wait.
  std::vector<double> rates(static_cast<size_t>(team.n_threads()));
  run_on_each_member(team, [&](int member) {
    const auto begin = Clock::now();
    int64_t n = 0;
    std::chrono::duration<double> time{0};
    do {
      loop.run(kRounds);
      n += kRounds;
      time = Clock::now() - begin;
    } while (time < kTime);
    rates[static_cast<size_t>(member)] = static_cast<double>(n) / time.count();
  });
  double sum = 0;
  for (const double rate : rates) sum += rate;
  return sum * 2 * loop.multiply_adds / 1e9;
}

}  // namespace ft::bench
