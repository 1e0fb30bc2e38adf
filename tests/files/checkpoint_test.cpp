// Checkpoint: the fixtures against an independent parse (Python's json, struct and zlib.crc32), and
// folders that are incomplete, ambiguous or hostile.
#include "files/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file_map.h"
#include "files/quantization.h"
#include "tests/files/files_support.h"

namespace ft::test {
namespace {

namespace fs = std::filesystem;

uint32_t crc32(std::span<const std::byte> bytes) {
  uint32_t crc = ~0u;
  for (const std::byte byte : bytes) {
    crc ^= std::to_integer<uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0xEDB88320u : 0u);
  }
  return ~crc;
}

struct Expected {
  std::string_view name;
  DType dtype;
  std::vector<int64_t> shape;
  uint32_t crc;
};

void expect_tensors(const Checkpoint& checkpoint, const std::vector<Expected>& expected) {
  for (const Expected& tensor : expected) {
    const TensorEntry& entry = checkpoint.at(tensor.name);
    EXPECT_EQ(entry.dtype, tensor.dtype) << tensor.name;
    EXPECT_EQ(entry.shape, tensor.shape) << tensor.name;
    EXPECT_EQ(crc32({entry.data, entry.n_bytes}), tensor.crc) << tensor.name;
  }
}

TEST(Checkpoint, ReadsAShardedModel) {
  const Checkpoint checkpoint = Checkpoint::open(FT_SOURCE_DIR "/fixtures/qwen3_moe");
  EXPECT_EQ(checkpoint.tensors().size(), 135u);
  EXPECT_EQ(checkpoint.config().string({"model_type"}), "qwen3_moe");
  EXPECT_EQ(checkpoint.find("logits"), nullptr);  // golden.safetensors is no part of the model
  expect_tensors(checkpoint,
                 {{"lm_head.weight", DType::kBF16, {256, 64}, 0xba008452u},
                  {"model.layers.0.self_attn.q_norm.weight", DType::kBF16, {16}, 0x8fa0e440u},
                  {"model.layers.1.self_attn.k_proj.weight", DType::kBF16, {32, 64}, 0x575f0025u},
                  {"model.layers.1.self_attn.o_proj.weight", DType::kBF16, {64, 64}, 0x502f2e61u},
                  {"model.layers.2.self_attn.q_proj.weight", DType::kBF16, {64, 64}, 0xe6ef2855u},
                  {"model.norm.weight", DType::kBF16, {64}, 0x55bda72fu}});
  EXPECT_THAT(checkpoint.at("lm_head.weight").file,
              testing::EndsWith("model-00001-of-00002.safetensors"));
  EXPECT_THAT(checkpoint.at("model.norm.weight").file,
              testing::EndsWith("model-00002-of-00002.safetensors"));
}

TEST(Checkpoint, ReadsAModelOfOneFile) {
  const Checkpoint checkpoint = Checkpoint::open(FT_SOURCE_DIR "/fixtures/qwen3_moe_nvfp4");
  EXPECT_EQ(checkpoint.tensors().size(), 423u);
  const std::string expert = "model.layers.0.mlp.experts.0.down_proj.weight";
  expect_tensors(checkpoint, {{"lm_head.weight", DType::kBF16, {256, 64}, 0xba008452u},
                              {expert, DType::kU8, {64, 16}, 0x0f0e3f6cu},
                              {expert + "_scale", DType::kF8E4M3, {64, 2}, 0x62a34ffcu},
                              {expert + "_scale_2", DType::kF32, {}, 0xf79ad7c7u},
                              {"model.norm.weight", DType::kBF16, {64}, 0x55bda72fu}});
}

TEST(Checkpoint, EveryFixtureOpens) {
  int n_fixtures = 0;
  for (const auto& folder : fs::directory_iterator(FT_SOURCE_DIR "/fixtures")) {
    if (!fs::exists(folder.path() / "config.json")) continue;
    const Checkpoint checkpoint = Checkpoint::open(folder.path());
    EXPECT_GT(checkpoint.tensors().size(), 50u) << folder.path();
    quantization_of(checkpoint.config());
    ++n_fixtures;
  }
  EXPECT_GE(n_fixtures, 2);
}

TEST(Checkpoint, BytesBehindATensorAreReadable) {
  const Checkpoint checkpoint = Checkpoint::open(FT_SOURCE_DIR "/fixtures/qwen3_moe");
  unsigned sum = 0;
  for (const TensorEntry& tensor : checkpoint.tensors()) {
    const std::byte* const end = tensor.data + tensor.n_bytes;
    for (size_t i = 0; i < FileMap::kReadablePastEnd; ++i) sum += std::to_integer<unsigned>(end[i]);
  }
  EXPECT_GT(sum, 0u);
}

/// A folder with config.json, to which a test adds weights.
class CheckpointFolder : public testing::Test {
 protected:
  CheckpointFolder() { folder_.write("config.json", "{}"); }

  /// A file of U8 tensors with one byte each.
  void write_tensors(const std::string& file, const std::vector<std::string>& names) const {
    std::string header = "{";
    for (size_t i = 0; i < names.size(); ++i) {
      header += (i > 0 ? ",\"" : "\"") + names[i] +
                R"(":{"dtype":"U8","shape":[1],"data_offsets":[)" + std::to_string(i) + "," +
                std::to_string(i + 1) + "]}";
    }
    folder_.write(file, safetensors(header + "}", names.size()));
  }

  void write_index(const std::vector<std::pair<std::string, std::string>>& shard_of) const {
    std::string map;
    for (const auto& [tensor, shard] : shard_of) {
      map += (map.empty() ? "\"" : ",\"") + tensor + "\":\"" + shard + "\"";
    }
    folder_.write("model.safetensors.index.json", R"({"metadata":{},"weight_map":{)" + map + "}}");
  }

  Checkpoint open() const { return Checkpoint::open(folder_.path()); }

  void refuse(std::initializer_list<std::string_view> parts) const {
    expect_error(ErrorKind::kBadInput, {folder_.path().string()}, [&] { open(); });
    expect_error(ErrorKind::kBadInput, parts, [&] { open(); });
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    const Checkpoint checkpoint = open();
    for (const TensorEntry& tensor : checkpoint.tensors()) names.push_back(tensor.name);
    return names;
  }

  ScratchFolder folder_;
};

constexpr const char* kShard1 = "model-00001-of-00002.safetensors";
constexpr const char* kShard2 = "model-00002-of-00002.safetensors";

TEST_F(CheckpointFolder, TensorsAreSortedAndFound) {
  write_tensors("model.safetensors", {"b.w", "a.w", "c.w"});
  EXPECT_EQ(names(), (std::vector<std::string>{"a.w", "b.w", "c.w"}));
  const Checkpoint checkpoint = open();
  EXPECT_EQ(checkpoint.find("b.w"), &checkpoint.tensors()[1]);
  EXPECT_EQ(checkpoint.find("b"), nullptr);
  EXPECT_EQ(checkpoint.find("z"), nullptr);
  expect_error(ErrorKind::kBadInput, {folder_.path().string(), "'z'", "3 tensors"},
               [&] { checkpoint.at("z"); });
}

TEST_F(CheckpointFolder, AnEmptyFileIsAModelWithoutTensors) {
  folder_.write("model.safetensors", safetensors("{}"));
  EXPECT_TRUE(open().tensors().empty());
}

TEST_F(CheckpointFolder, WithoutAnIndexAllFilesWithParametersCount) {
  write_tensors("part-b.safetensors", {"b.w"});
  write_tensors("part-a.safetensors", {"a.w"});
  write_tensors("trace.safetensors", {"tokens"});
  EXPECT_EQ(names(), (std::vector<std::string>{"a.w", "b.w"}));
}

TEST_F(CheckpointFolder, AMissingShardIsNamedWithItsFirstTensor) {
  write_tensors(kShard1, {"a.w"});
  write_index({{"a.w", kShard1}, {"c.w", kShard2}, {"b.w", kShard2}});
  refuse({kShard2, "missing", "'b.w'", "2 shards"});
  // A download that was broken off leaves a link that leads nowhere.
  fs::create_symlink("nowhere", folder_.path() / kShard2);
  refuse({kShard2, "missing", "'b.w'"});
  fs::remove(folder_.path() / "model.safetensors.index.json");
  fs::create_symlink("nowhere", folder_.path() / "model.safetensors.index.json");
  expect_error(ErrorKind::kIo, {"index.json", "No such file"}, [&] { open(); });
}

TEST_F(CheckpointFolder, AStrayFileOfWeightsIsNamed) {
  write_tensors(kShard1, {"a.w"});
  write_index({{"a.w", kShard1}});
  write_tensors("golden.safetensors", {"logits"});
  EXPECT_EQ(names(), (std::vector<std::string>{"a.w"}));
  for (const std::string stray :
       {"consolidated.safetensors", "model.safetensors", kShard2, "x.safetensors"}) {
    write_tensors(stray, {"other.w"});
    refuse({stray, "move it out"});
    fs::remove(folder_.path() / stray);
  }
  write_tensors(kShard2, {"undotted"});  // named like a shard
  refuse({kShard2, "move it out"});
}

TEST_F(CheckpointFolder, AStrayFileBesideASingleOneIsNamed) {
  write_tensors("model.safetensors", {"a.w"});
  write_tensors("routing_trace.safetensors", {"tokens"});
  EXPECT_EQ(names(), (std::vector<std::string>{"a.w"}));
  write_tensors(kShard1, {"b.w"});
  refuse({kShard1, "no model.safetensors.index.json names it"});
}

TEST_F(CheckpointFolder, ATensorInTwoShardsNamesBoth) {
  write_tensors(kShard1, {"a.w", "b.w"});
  write_tensors(kShard2, {"b.w"});
  write_index({{"a.w", kShard1}, {"b.w", kShard2}});
  refuse({"'b.w'", kShard1, kShard2, "two files"});
  fs::remove(folder_.path() / "model.safetensors.index.json");
  refuse({"'b.w'", kShard1, kShard2, "two files"});
}

TEST_F(CheckpointFolder, ATensorMustBeWhereTheIndexSays) {
  write_tensors(kShard1, {"a.w", "b.w"});
  write_tensors(kShard2, {"c.w"});
  write_index({{"a.w", kShard1}, {"b.w", kShard2}, {"c.w", kShard2}});
  refuse({"'b.w' should be in", kShard2, "but is in", kShard1});
  write_index({{"a.w", kShard1}, {"d.w", kShard2}});
  refuse({"'d.w' should be in", kShard2, "no shard holds it"});
  write_index({{"a.w", kShard1}, {"b.w", kShard1}, {"c.w", kShard2}});
  EXPECT_EQ(names(), (std::vector<std::string>{"a.w", "b.w", "c.w"}));
}

TEST_F(CheckpointFolder, AnIndexCannotLeaveTheFolder) {
  write_tensors("model.safetensors", {"a.w"});
  for (const std::string shard : {"../x.safetensors", "/x.safetensors", "sub/x.safetensors", "..",
                                  "", ".safetensors", "config.json", "x\\u0000.safetensors"}) {
    write_index({{"a.w", shard}});
    refuse({"index.json", "'a.w'", "not the name of a .safetensors file"});
  }
}

TEST_F(CheckpointFolder, RefusesAMalformedIndex) {
  write_tensors("model.safetensors", {"a.w"});
  const auto write = [&](std::string_view text) {
    folder_.write("model.safetensors.index.json", text);
  };
  write("");
  refuse({"index.json", "not valid JSON"});
  write("{}");
  refuse({"index.json", "missing: \"weight_map\""});
  write(R"({"weight_map": {}})");
  refuse({"index.json", "names no tensor"});
  write(R"({"weight_map": {"a.w": 1}})");
  refuse({"index.json: weight_map", "\"a.w\"", "a string"});
  write(R"({"weight_map": {"a.w": "x.safetensors", "a.w": "y.safetensors"}})");
  refuse({"index.json", "\"a.w\" twice"});
}

TEST_F(CheckpointFolder, NamesWhatIsNotThere) {
  refuse({"no weights", "model.safetensors"});
  fs::create_directory(folder_.path() / "model.safetensors");
  expect_error(ErrorKind::kIo, {"model.safetensors", "a folder"}, [&] { open(); });
  fs::remove(folder_.path() / "config.json");
  expect_error(ErrorKind::kIo, {"config.json", "No such file"}, [&] { open(); });
  expect_error(ErrorKind::kIo, {"nowhere", "nothing of that name"},
               [&] { Checkpoint::open(folder_.path() / "nowhere"); });
  expect_error(ErrorKind::kIo, {"f.txt is not a folder"},
               [&] { Checkpoint::open(folder_.write("f.txt", "")); });
}

TEST_F(CheckpointFolder, AMalformedShardIsNamed) {
  folder_.write("model.safetensors", "1234567");
  refuse({"model.safetensors", "7 bytes"});
}

TEST_F(CheckpointFolder, HonoursModelOptsOwnFile) {
  write_tensors("model.safetensors", {"a.w"});
  folder_.write("hf_quant_config.json",
                R"({"quantization": {"quant_algo": "NVFP4", "exclude_modules": ["lm_head"]}})");
  const Quantization nvfp4 = quantization_of(open().config());
  EXPECT_EQ(nvfp4.scheme, Quantization::Scheme::kNvfp4);
  EXPECT_TRUE(nvfp4.is_ignored("lm_head"));
  // What config.json says itself comes first.
  folder_.write("config.json", R"({"quantization_config": {"quant_method": "mxfp4"}})");
  EXPECT_EQ(quantization_of(open().config()).scheme, Quantization::Scheme::kMxfp4);
}

}  // namespace
}  // namespace ft::test
