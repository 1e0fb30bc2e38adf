#include "engine/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "models/registry.h"

namespace ft {
namespace {

struct Opened {
  Checkpoint checkpoint = Checkpoint::open(std::string(FT_SOURCE_DIR) + "/fixtures/qwen3_moe");
  std::unique_ptr<Model> model = open_model(checkpoint);
};

TEST(Placement, PartsAddUp) {
  const Opened o;
  const Placement p =
      plan_placement(*o.model, {.n_context = 100, .n_prefill_rows = 16, .n_threads = 2});
  EXPECT_EQ(p.n_context, 100);
  EXPECT_EQ(p.bank_bytes, o.model->bank().n_bytes());
  EXPECT_EQ(p.kv_bytes, 128 * kv_bytes_per_token(p.kv));
  EXPECT_EQ(p.n_pages, 2);
  EXPECT_EQ(p.table_bytes, 100 * 16 * sizeof(float));
  // Norms as float32: two of 64 and two of 16 in each of 4 layers, one of 64 at the end.
  EXPECT_EQ(p.copied_bytes, (4 * (2 * 64 + 2 * 16) + 64) * sizeof(float));
  EXPECT_EQ(p.logits_bytes, 16 * 256 * sizeof(float));
  EXPECT_EQ(p.total_bytes(), p.bank_bytes + p.dense_bytes + p.kv_bytes + p.scratch_bytes +
                                 p.table_bytes + p.logits_bytes + p.copied_bytes);
  PlacementLimits wider = {.n_context = 100, .n_prefill_rows = 16, .kv_dtype = KvDType::kF32};
  EXPECT_EQ(plan_placement(*o.model, wider).kv_bytes, 2 * p.kv_bytes);
  wider.kv_dtype = KvDType::kFp8;
  // A float32 scale for each of 2 keys and 2 values in each of 4 layers.
  EXPECT_EQ(plan_placement(*o.model, wider).kv_bytes, p.kv_bytes / 2 + 128 * 4 * 2 * 2 * 4);
}

TEST(Placement, WithoutAWishTheContextIsTheModelsUpToADefault) {
  const Opened o;
  EXPECT_EQ(plan_placement(*o.model, {.n_prefill_rows = 16}).n_context, 2048);
}

TEST(Placement, ImpossibleWishesAreRefused) {
  const Opened o;
  EXPECT_THROW(plan_placement(*o.model, {.n_context = 2049, .n_prefill_rows = 16}), Error);
  EXPECT_THROW(plan_placement(*o.model, {.n_context = -1, .n_prefill_rows = 16}), Error);
  EXPECT_THROW(plan_placement(*o.model, {.n_context = 16, .n_prefill_rows = 0}), Error);
}

TEST(Placement, WhatDoesNotFitIsRefusedWithTheNumbers) {
  const Opened o;
  const Placement p = plan_placement(*o.model, {.n_context = 100, .n_prefill_rows = 16});
  EXPECT_NO_THROW(check_fits(p, p.total_bytes()));
  try {
    check_fits(p, p.total_bytes() - 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
    EXPECT_THAT(error.what(), testing::HasSubstr("for experts"));
    EXPECT_THAT(error.what(), testing::HasSubstr("available"));
  }
}

}  // namespace
}  // namespace ft
