// write_safetensors: the exact bytes as Python's json reads them, alignment, and that a failure
// leaves no trace.
#include <signal.h>
#include <sys/resource.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "files/safetensors.h"
#include "ft/tensors.h"
#include "tests/files/files_support.h"

namespace ft::test {
namespace {

namespace fs = std::filesystem;

size_t count_files(const fs::path& folder) {
  return static_cast<size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(SafetensorsWriter, WhatIsNoTensorIsRefusedAndLeavesNoTrace) {
  const ScratchFolder folder;
  const std::vector<float> values = {1, 2};
  const auto refusal_of = [&](const std::vector<NamedTensor>& tensors) {
    try {
      write_safetensors(folder.path() / "out.safetensors", tensors);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_EQ(refusal_of({{"a", {3}, std::span(values)}}),
            "tensor a: its shape takes 12 bytes, its values have 8");
  EXPECT_EQ(refusal_of({{"a", {2}, std::span(values)}, {"a", {2}, std::span(values)}}),
            "two tensors a");
  EXPECT_EQ(refusal_of({{"\xff", {2}, std::span(values)}}), "a tensor's name is not UTF-8");
  EXPECT_EQ(count_files(folder.path()), 0u);
}

TEST(SafetensorsWriter, WritesWhatTheFormatAsksFor) {
  const ScratchFolder folder;
  const fs::path file = folder.path() / "out.safetensors";
  const std::vector<float> logits = {1.5f, -2, 0, 3};
  const std::vector<int64_t> ids = {7, -1, int64_t{1} << 40};
  const std::vector<NamedTensor> tensors = {{"logits", {2, 2}, std::span(logits)},
                                            {"empty", {0, 5}, std::span<const float>()},
                                            {"greedy_ids", {3}, std::span(ids)}};
  write_safetensors(file, tensors);

  const std::string bytes = read_all(file);
  uint64_t n_header = 0;
  std::memcpy(&n_header, bytes.data(), sizeof n_header);
  EXPECT_EQ(n_header % 8, 0u);
  const auto header = nlohmann::json::parse(bytes.substr(8, n_header));
  EXPECT_EQ(header, nlohmann::json::parse(R"({
      "greedy_ids": {"dtype": "I64", "shape": [3], "data_offsets": [0, 24]},
      "logits": {"dtype": "F32", "shape": [2, 2], "data_offsets": [24, 40]},
      "empty": {"dtype": "F32", "shape": [0, 5], "data_offsets": [40, 40]}})"));
  ASSERT_EQ(bytes.size(), 8 + n_header + 40);
  EXPECT_EQ(std::memcmp(bytes.data() + 8 + n_header, ids.data(), 24), 0);
  EXPECT_EQ(std::memcmp(bytes.data() + 8 + n_header + 24, logits.data(), 16), 0);
  EXPECT_EQ(read_safetensors(std::as_bytes(std::span(bytes)), "out").size(), 3u);
  EXPECT_EQ(count_files(folder.path()), 1u);
}

TEST(SafetensorsWriter, ReplacesAFileAsAWhole) {
  const ScratchFolder folder;
  const fs::path file = folder.write("out.safetensors", "older, and much longer than the new one");
  write_safetensors(file, {});
  EXPECT_EQ(read_all(file), raw_safetensors(8, "{}      "));
  EXPECT_EQ(count_files(folder.path()), 1u);
}

TEST(SafetensorsWriter, AFailureNamesTheFileAndLeavesNothing) {
  const ScratchFolder folder;
  expect_error(ErrorKind::kIo, {"none/out", "No such file"},
               [&] { write_safetensors(folder.path() / "none/out", {}); });
  const fs::path taken = folder.path() / "taken";
  fs::create_directory(taken);
  expect_error(ErrorKind::kIo, {"taken", "folder"}, [&] { write_safetensors(taken, {}); });
  EXPECT_EQ(count_files(folder.path()), 1u);
  expect_error(ErrorKind::kIo, {"/dev/null"}, [] { write_safetensors("/dev/null", {}); });
}

TEST(SafetensorsWriter, AFullDiskLeavesTheOldFile) {
  const ScratchFolder folder;
  const fs::path file = folder.write("out.safetensors", "old");
  // A write past the allowed file size fails like one on a full disk.
  const rlimit small = {1000, RLIM_INFINITY};
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::vector<float> values(10'000);
  const std::vector<NamedTensor> tensors = {{"x", {10'000}, std::span(values)}};
  expect_error(ErrorKind::kIo, {"out.safetensors", "File too large"},
               [&] { write_safetensors(file, tensors); });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(read_all(file), "old");
  EXPECT_EQ(count_files(folder.path()), 1u);
}

}  // namespace
}  // namespace ft::test
