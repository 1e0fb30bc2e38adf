// Copies of dense matrices in q8: what they hold, which are made, what is refused.
#include "models/dense_bank.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/team.h"
#include "tests/support/random_weights.h"
#include "tests/support/thread_counts.h"

namespace ft::test {
namespace {

constexpr int64_t kRows = 301;
constexpr int64_t kCols = 32 * 9;

TEST(DenseBank, CopiesAreTheMatricesToHalfAStep) {
  Random random(1);
  for (const FormatId format : {kIdOf<F32>, kIdOf<F16>, kIdOf<Bf16>}) {
    const RandomMatrix matrix(random, format, kRows, kCols);
    for (const int n_threads : thread_counts()) {
      DenseBank bank;
      WeightView copy = matrix.view;
      bank.add(copy, "a matrix");
      Team team(n_threads);
      bank.fill(team, [](uint64_t) {});
      ASSERT_EQ(copy.format, kIdOf<Q8>);
      ASSERT_EQ(copy.rows, kRows);
      ASSERT_EQ(copy.cols, kCols);
      for (int64_t n = 0; n < kRows; ++n) {
        for (int64_t k = 0; k < kCols; ++k) {
          const uint8_t* scales = copy.scales + n * copy.scale_row_bytes;
          const double d = f16(load<uint16_t>(scales + k / 32 * 2));
          // Half a step, and 127 times what the rounding of d took off.
          ASSERT_NEAR(meant(copy, n, k), meant(matrix.view, n, k), d * (0.5 + 127 * 0x1p-11));
        }
      }
    }
  }
}

TEST(DenseBank, BytesAreCountedBeforeAndAfter) {
  Random random(2);
  const RandomMatrix first(random, kIdOf<Bf16>, kRows, kCols, RowGaps::kNone);
  const RandomMatrix second(random, kIdOf<F32>, 64, 64, RowGaps::kNone);
  DenseBank bank;
  EXPECT_EQ(bank.describe(), "");
  WeightView a = first.view;
  WeightView b = second.view;
  bank.add(a, "a");
  bank.add(b, "b");
  EXPECT_EQ(a.codes, nullptr);  // nothing is allocated yet
  EXPECT_EQ(bank.source_bytes(), kRows * kCols * 2 + 64 * 64 * 4);
  const uint64_t copies = bytes_of(a) + bytes_of(b);
  EXPECT_EQ(copies, (kRows * kCols + 64 * 64) / 32 * 34);
  EXPECT_GE(bank.n_bytes(), copies);
  EXPECT_LE(bank.n_bytes(), copies + 3 * 63);
  EXPECT_THAT(bank.describe(), testing::StartsWith("q8: 2 dense matrices of 190 kB become "));
}

TEST(DenseBank, WhatQ8CannotTakeStaysAndIsCounted) {
  Random random(3);
  const RandomMatrix odd(random, kIdOf<F16>, 5, 48);
  const RandomMatrix quantised(random, kIdOf<Nvfp4>, 5, 64);
  DenseBank bank;
  for (const WeightView& view : {odd.view, quantised.view}) {
    WeightView same = view;
    bank.add(same, "a matrix");
    EXPECT_EQ(same.codes, view.codes);
    EXPECT_EQ(same.format, view.format);
  }
  EXPECT_EQ(bank.n_bytes(), 0u);
  EXPECT_THAT(bank.describe(),
              testing::AllOf(testing::HasSubstr("q8: no dense matrix can become it"),
                             testing::HasSubstr("1 stay as they are, being quantised"),
                             testing::HasSubstr("1 stay as they are, having columns")));
  Team team(1);
  bank.fill(team, [](uint64_t) {});
}

TEST(DenseBank, AWeightThatQ8CannotHoldIsRefusedWithItsPlace) {
  Random random(4);
  for (const float bad : {std::nanf(""), HUGE_VALF, -HUGE_VALF, 0x1p24f}) {
    RandomMatrix matrix(random, kIdOf<F32>, 40, 64, RowGaps::kNone);
    __builtin_memcpy(matrix.codes.data() + (33 * 64 + 37) * 4, &bad, 4);
    DenseBank bank;
    WeightView copy = matrix.view;
    bank.add(copy, "layer 3, attention q");
    Team team(1);
    try {
      bank.fill(team, [](uint64_t) {});
      FAIL() << bad;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
      EXPECT_THAT(
          error.what(),
          testing::HasSubstr("layer 3, attention q, row 33: a weight among columns 32 to 63"));
    }
  }
}

}  // namespace
}  // namespace ft::test
