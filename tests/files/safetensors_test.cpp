// read_safetensors on hand-made files: what is valid loads, what is hostile is refused cheaply and
// with its numbers.
#include "files/safetensors.h"

#include <gtest/gtest.h>

#include "tests/files/files_support.h"

namespace ft::test {
namespace {

std::vector<TensorEntry> read(const std::string& file) {
  return read_safetensors(std::as_bytes(std::span(file)), "f.safetensors");
}

void refuse(const std::string& file, std::initializer_list<std::string_view> parts,
            ErrorKind kind = ErrorKind::kBadInput) {
  expect_error(kind, {"f.safetensors"}, [&] { read(file); });
  expect_error(kind, parts, [&] { read(file); });
}

/// A header with one tensor 'a'.
std::string one(std::string_view dtype, std::string_view shape, std::string_view offsets) {
  return std::string(R"({"a":{"dtype":")")
      .append(dtype)
      .append(R"(","shape":)")
      .append(shape)
      .append(R"(,"data_offsets":)")
      .append(offsets)
      .append("}}");
}

TEST(Safetensors, ReadsTensorsInTheHeadersOrder) {
  const std::string file = safetensors(
      R"({"__metadata__":{"format":"pt","note":"{[\"\\"},
          "b":{"dtype":"F32","shape":[2,1],"data_offsets":[3,11]},
          "a":{"shape":[3],"data_offsets":[0,3],"dtype":"F8_E4M3"},
          "s":{"dtype":"BF16","shape":[],"data_offsets":[11,13]}}   )",
      13);
  const std::vector<TensorEntry> entries = read(file);
  const std::byte* data = std::as_bytes(std::span(file)).data() + file.size() - 13;
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].name, "b");
  EXPECT_EQ(entries[0].dtype, DType::kF32);
  EXPECT_EQ(entries[0].shape, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(entries[0].data, data + 3);
  EXPECT_EQ(entries[0].n_bytes, 8u);
  EXPECT_EQ(entries[0].file, "f.safetensors");
  EXPECT_EQ(entries[1].name, "a");
  EXPECT_EQ(entries[1].data, data);
  EXPECT_EQ(entries[2].shape, std::vector<int64_t>{});
  EXPECT_EQ(entries[2].n_bytes, 2u);
}

TEST(Safetensors, AnEmptyFileAndAnEmptyTensorAreValid) {
  EXPECT_TRUE(read(safetensors("{}")).empty());
  EXPECT_TRUE(read(safetensors(R"({"__metadata__":{}}  )")).empty());
  const auto empty = read(safetensors(one("F32", "[4,0,7]", "[0,0]")));
  ASSERT_EQ(empty.size(), 1u);
  EXPECT_EQ(empty[0].n_bytes, 0u);
  EXPECT_EQ(empty[0].shape, (std::vector<int64_t>{4, 0, 7}));
  // Between two others, named before them.
  const auto three = read(safetensors(R"({"z":{"dtype":"U8","shape":[0],"data_offsets":[2,2]},
      "a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},
      "b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}})",
                                      3));
  EXPECT_EQ(three.size(), 3u);
}

TEST(Safetensors, RefusesWhatIsNoSafetensorsFile) {
  refuse("", {"0 bytes"});
  refuse("1234567", {"7 bytes"});
  refuse(raw_safetensors(~uint64_t{0}, "{}"), {"18446744073709551615"});
  refuse(raw_safetensors(uint64_t{1} << 63, "{}"), {"9223372036854775808"});
  refuse(raw_safetensors(100'000'001, "{}"), {"100000001", "100000000"});
  refuse(raw_safetensors(3, "{}"), {"header length 3", "2 bytes follow"});
  refuse(raw_safetensors(90'000'000, "{}"), {"90000000", "2 bytes follow"});
  refuse(raw_safetensors(0, "{}"), {"does not start with '{'"});
  refuse(safetensors(" {}"), {"does not start with '{'"});
  refuse(safetensors("[]"), {"does not start with '{'"});
  refuse(safetensors("{"), {"not valid JSON"});
  refuse(safetensors("{}}"), {"not valid JSON"});
  refuse(safetensors(std::string_view("{}\0{\"a\":1}", 10)), {"zero byte at 2"});
  refuse(safetensors("{\"\xff\":{}}"), {"not valid JSON"});
  refuse("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n", {"git lfs pull"});
}

TEST(Safetensors, RefusesAHeaderOfAnotherForm) {
  refuse(safetensors(R"({"a":1})"), {"'a'", "expected an object", "1"});
  refuse(safetensors(R"({"a":[]})"), {"'a'", "a list"});
  refuse(safetensors(R"({"a":{}})"), {"'a'", "no dtype"});
  refuse(safetensors(R"({"a":{"dtype":"F32"}})"), {"'a'", "no shape"});
  refuse(safetensors(R"({"a":{"dtype":"F32","shape":[]}})"), {"'a'", "no data_offsets"});
  refuse(safetensors(R"({"a":{"dtype":7}})"), {"'a'", "dtype must be a string", "7"});
  refuse(safetensors(R"({"a":{"dtype":{"x":1}}})"), {"'a'", "dtype", "an object"});
  refuse(safetensors(R"({"a":{"shape":"x"}})"), {"'a'", "shape must be a list", "\"x\""});
  refuse(safetensors(R"({"a":{"shape":null}})"), {"'a'", "shape", "null"});
  refuse(safetensors(R"({"a":{"shape":[[1]]}})"), {"'a'", "shape", "a list"});
  refuse(safetensors(R"({"a":{"shape":[true]}})"), {"'a'", "shape", "truth value"});
  refuse(safetensors(R"({"a":{"strides":[1]}})"), {"'a'", "\"strides\""});
  refuse(safetensors(R"({"a":{"shape":[],"shape":[]}})"), {"'a'", "two members \"shape\""});
  refuse(safetensors(R"({"__metadata__":{"n":1}})"), {"__metadata__", "strings", "1"});
  refuse(safetensors(R"({"__metadata__":{"n":{"m":"x"}}})"), {"__metadata__", "an object"});
  refuse(safetensors(R"({"__metadata__":{},"__metadata__":{}})"), {"two __metadata__"});
  refuse(safetensors(one("U8", "[1]", "[0]"), 1), {"'a'", "1 numbers"});
  refuse(safetensors(one("U8", "[1]", "[0,1,2]"), 1), {"'a'", "more than 2"});
  const std::string tensor = R"("a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  refuse(safetensors("{" + tensor + "," + tensor + "}"), {"'a'", "twice"});
  refuse(safetensors("{\"" + std::string(5000, 'n') + "\":{}}"), {"4096", "(5000 bytes)"});
}

TEST(Safetensors, RefusesUnknownTypesByName) {
  for (const std::string dtype : {"F4", "F6_E2M3", "C64", "f32", "", "F32 "}) {
    refuse(safetensors(one(dtype, "[2]", "[0,1]"), 1), {"'a'", "\"" + dtype + "\"", "F8_E8M0"},
           ErrorKind::kUnsupported);
  }
}

TEST(Safetensors, RefusesShapesThatAreNoSizes) {
  refuse(safetensors(one("U8", "[-1]", "[0,1]"), 1), {"'a'", "shape", "-1"});
  refuse(safetensors(one("U8", "[1.5]", "[0,1]"), 1), {"'a'", "shape", "1.5"});
  refuse(safetensors(one("U8", "[1.0]", "[0,1]"), 1), {"'a'", "shape", "1.0"});
  refuse(safetensors(one("U8", "[1e0]", "[0,1]"), 1), {"'a'", "shape", "1e0"});
  refuse(safetensors(one("U8", "[-0]", "[0,0]")), {"'a'", "shape"});
  refuse(safetensors(one("U8", "[9223372036854775808]", "[0,1]"), 1), {"9223372036854775808"});
  refuse(safetensors(one("U8", "[18446744073709551616]", "[0,1]"), 1), {"18446744073709551616"});
  refuse(safetensors(one("U8", "[1e999]", "[0,1]"), 1), {"not valid JSON"});
  refuse(safetensors(one("U8", "[1]", "[0,-1]"), 1), {"'a'", "data_offsets", "-1"});
  refuse(safetensors(one("U8", "[1]", "[0,1.0]"), 1), {"'a'", "data_offsets", "1.0"});
  refuse(safetensors(one("U8", "[4294967296,4294967296]", "[0,0]")),
         {"'a'", "[4294967296, 4294967296]", "2^64"});
  refuse(safetensors(one("F32", "[4611686018427387904]", "[0,0]")), {"4611686018427387904"});
  refuse(safetensors(one("U8", "[0,4294967296,4294967296]", "[0,0]")), {"2^64"});
  refuse(safetensors(one("U8", "[4294967296,4294967296,0]", "[0,0]")), {"2^64"});
  std::string rank33 = "[1";
  for (int i = 0; i < 32; ++i) rank33 += ",1";
  refuse(safetensors(one("U8", rank33 + "]", "[0,1]"), 1), {"32 dimensions"});
}

TEST(Safetensors, RefusesOffsetsThatDisagree) {
  refuse(safetensors(one("F32", "[2]", "[0,7]"), 7), {"'a'", "[2] of F32", "8 bytes", "[0, 7]"});
  refuse(safetensors(one("F32", "[0]", "[0,4]"), 4), {"'a'", "0 bytes", "[0, 4]"});
  refuse(safetensors(one("U8", "[2]", "[3,1]"), 3), {"'a'", "[3, 1]", "backwards"});
  refuse(safetensors(one("U8", "[8]", "[0,8]"), 5), {"'a'", "byte 8", "5 bytes", "cut short"});
  refuse(safetensors(one("U8", "[1]", "[18446744073709551614,18446744073709551615]"), 1),
         {"'a'", "18446744073709551615"});
  refuse(safetensors(one("U8", "[2]", "[0,2]"), 5), {"5 bytes", "byte 2", "3 bytes are left over"});
  refuse(safetensors("{}", 4), {"4 bytes", "left over"});
  refuse(safetensors(one("U8", "[2]", "[1,3]"), 3), {"0 to 1", "'a'", "no tensor"});
  refuse(safetensors(one("U8", "[0]", "[2,2]"), 3), {"0 to 2", "'a'"});
  refuse(safetensors(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},
      "b":{"dtype":"U8","shape":[4],"data_offsets":[3,7]}})",
                     7),
         {"'b' begins at byte 3", "'a' that ends at 4"});
  // An empty tensor inside another overlaps it too.
  refuse(safetensors(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},
      "b":{"dtype":"U8","shape":[0],"data_offsets":[3,3]}})",
                     4),
         {"'b' begins at byte 3"});
}

TEST(Safetensors, AFileCutShortAnywhereIsRefused) {
  const std::string whole = safetensors(one("F32", "[2]", "[0,8]"), 8);
  EXPECT_EQ(read(whole).size(), 1u);
  for (size_t n = 0; n < whole.size(); ++n) refuse(whole.substr(0, n), {"f.safetensors"});
}

TEST(Safetensors, MessagesHoldNoControlCharacters) {
  refuse(safetensors(R"({"a\u001b[2J\n":1})"), {R"('a\x1B[2J\x0A')"});
}

}  // namespace
}  // namespace ft::test
