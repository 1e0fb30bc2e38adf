// Scales that no quantiser writes: each ends in an Error that names its weight.
#include <bit>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "files/weights.h"
#include "tests/files/files_support.h"
#include "tests/support/changed_model.h"

namespace ft::test {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

void set_float(ChangedModel& model, const std::string& tensor, size_t index, float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  for (size_t i = 0; i < sizeof(bits); ++i) {
    model.set_byte(tensor, index * sizeof(bits) + i, static_cast<uint8_t>(bits >> (8 * i)));
  }
}

std::vector<uint8_t> scales_of(const MatrixSource& source) {
  const int64_t n_bytes = scale_rows_of(source.format, source.rows) *
                          blocks_of(source.format, source.cols) * scale_bytes_of(source.format);
  std::vector<uint8_t> scales(static_cast<size_t>(n_bytes));
  copy_scales(source, scales.data());
  return scales;
}

struct GlobalScale {
  std::string fixture;
  std::string suffix;
};

class BadGlobalScale : public testing::TestWithParam<GlobalScale> {};

TEST_P(BadGlobalScale, IsRefusedByName) {
  const std::string module = "model.layers.1.mlp.experts.2.up_proj";
  const std::string tensor = module + GetParam().suffix;
  const auto read = [&](float value) {
    ChangedModel model(GetParam().fixture);
    set_float(model, tensor, 0, value);
    const Checkpoint checkpoint = Checkpoint::open(model.folder());
    return Weights(checkpoint).expert(module, 32, 64).factor;
  };
  for (const float bad : {0.0f, -0.0f, -1.0f, -1e-30f, kNaN, kInfinity, -kInfinity}) {
    expect_error(ErrorKind::kBadInput, {tensor, "not a positive scale", "model.safetensors"},
                 [&] { read(bad); });
  }
  EXPECT_EQ(read(0.5f), GetParam().suffix == ".weight_global_scale" ? 2.0f : 0.5f);
}

INSTANTIATE_TEST_SUITE_P(Dialects, BadGlobalScale,
                         testing::Values(GlobalScale{"qwen3_moe_nvfp4", ".weight_scale_2"},
                                         GlobalScale{"qwen3_moe_nvfp4_ct", ".weight_global_scale"}),
                         [](const auto& p) { return p.param.fixture; });

TEST(BadScales, ADivisorWhoseReciprocalIsInfiniteIsRefused) {
  const std::string module = "model.layers.0.mlp.experts.7.down_proj";
  ChangedModel model("qwen3_moe_nvfp4_ct");
  set_float(model, module + ".weight_global_scale", 0, 1e-40f);
  const Checkpoint checkpoint = Checkpoint::open(model.folder());
  Weights weights(checkpoint);
  expect_error(ErrorKind::kBadInput, {module + ".weight_global_scale", "too small"},
               [&] { weights.expert(module, 64, 32); });
}

TEST(BadScales, Float32ScalesOfFp8AreFiniteAndNotNegative) {
  const std::string expert = "model.layers.1.mlp.experts.3.down_proj";
  const std::string dense = "model.layers.0.self_attn.o_proj";
  for (const float bad : {kNaN, -kNaN, kInfinity, -kInfinity, -0.5f, -1e-30f}) {
    ChangedModel model("qwen3_moe_fp8_f32_odd");
    set_float(model, expert + ".weight_scale_inv", 1, bad);
    set_float(model, dense + ".weight_scale_inv", 1, bad);
    const Checkpoint checkpoint = Checkpoint::open(model.folder());
    Weights weights(checkpoint);
    expect_error(ErrorKind::kBadInput, {dense, "_scale_inv", "at [1, 0]"},
                 [&] { weights.dense(dense, 136, 96); });
    const MatrixSource source = weights.expert(expert, 136, 72);
    expect_error(ErrorKind::kBadInput, {expert, "_scale_inv", "at [1, 0]"},
                 [&] { scales_of(source); });
  }
}

TEST(BadScales, AFloat32ScaleOfZeroIsAZeroBlock) {
  const std::string dense = "model.layers.0.self_attn.o_proj";
  ChangedModel model("qwen3_moe_fp8_f32_odd");
  set_float(model, dense + ".weight_scale_inv", 0, 0);
  const Checkpoint checkpoint = Checkpoint::open(model.folder());
  Weights weights(checkpoint);
  const WeightView view = weights.dense(dense, 136, 96);
  EXPECT_EQ(load<float>(view.scales), 0);
  EXPECT_GT(load<float>(view.scales + view.scale_row_bytes), 0);
}

TEST(BadWeights, Fp8ThatIsNoNumberIsRefusedInExperts) {
  const std::string expert = "model.layers.1.mlp.experts.3.down_proj";
  for (const uint8_t nan : {uint8_t{0x7F}, uint8_t{0xFF}}) {
    ChangedModel model("qwen3_moe_fp8_f32_odd");
    model.set_byte(expert + ".weight", 135 * 72 + 71, nan);  // the last one
    const Checkpoint checkpoint = Checkpoint::open(model.folder());
    Weights weights(checkpoint);
    const MatrixSource source = weights.expert(expert, 136, 72);
    std::vector<uint8_t> codes(136 * 80);
    expect_error(ErrorKind::kBadInput, {expert + ".weight", "NaN"},
                 [&] { copy_codes(source, codes.data(), 80); });
  }
}

}  // namespace
}  // namespace ft::test
