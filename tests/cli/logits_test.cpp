// `ft logits` on the demo model, against the reference's logits and continuation.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cli/process.h"

namespace ft::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json reference() {
  return json::parse(read_file(kDemo + "/reference.json"));
}

std::string joined(const json& ids) {
  std::string text;
  for (const json& id : ids) text += (text.empty() ? "" : ",") + std::to_string(id.get<int64_t>());
  return text;
}

struct File {
  json header;
  std::string data;
};

File read_safetensors(const std::string& file) {
  const std::string bytes = read_file(file);
  uint64_t n_header = 0;
  std::memcpy(&n_header, bytes.data(), sizeof n_header);
  return {json::parse(bytes.substr(8, n_header)), bytes.substr(8 + n_header)};
}

template <typename T>
std::vector<T> values_of(const File& file, const char* name) {
  const json& offsets = file.header[name]["data_offsets"];
  const size_t begin = offsets[0], end = offsets[1];
  std::vector<T> values((end - begin) / sizeof(T));
  std::memcpy(values.data(), file.data.data() + begin, end - begin);
  return values;
}

TEST(Logits, FileHasEveryPositionAndTheReferencesContinuation) {
  Folder folder;
  const std::string out = folder.path() + "/l.safetensors";
  for (const bool is_exact : {true, false}) {
    const json row = reference()[0];
    const size_t n_greedy = row["greedy_ids"].size();
    std::vector<std::string> arguments{"logits",
                                       "--model",
                                       kDemo,
                                       "--out",
                                       out,
                                       "--tokens",
                                       joined(row["prompt_ids"]),
                                       "--greedy",
                                       std::to_string(n_greedy)};
    if (is_exact) arguments.push_back("--exact");
    const Outcome outcome = run(arguments);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    const File file = read_safetensors(out);
    EXPECT_EQ(file.header["logits"]["dtype"], "F32");
    EXPECT_EQ(file.header["logits"]["shape"], json::parse("[17, 4096]"));
    EXPECT_EQ(file.header["greedy_ids"]["dtype"], "I64");
    EXPECT_EQ(json(values_of<int64_t>(file, "greedy_ids")), row["greedy_ids"]);
    const std::vector<float> logits = values_of<float>(file, "logits");
    ASSERT_EQ(logits.size(), 17u * 4096u);
    for (const json& best : row["last_logits_top8"]) {
      const size_t at = 16 * 4096 + best[0].get<size_t>();
      // These logits reach 50, and the file's figures are not exact: float32 differs by up to
      // 0.016.
      EXPECT_NEAR(logits[at], best[1].get<float>(), is_exact ? 0.05 : 1.0) << best[0];
    }
  }
}

TEST(Logits, PrintsTheBestOfTheLastPosition) {
  Folder folder;
  const json row = reference()[0];
  write_file(folder.path() + "/ids", joined(row["prompt_ids"]) + "\n");
  const Outcome outcome =
      run({"logits", "--exact", "--tokens-file", folder.path() + "/ids", "--greedy", "2"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(std::ranges::count(outcome.out, '\n'), 6);
  EXPECT_EQ(outcome.out.find("     35    48.4"), 0u) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("greedy: 35 294\n"));
}

TEST(Logits, TokensThatAreNoneAreRefused) {
  Folder folder;
  for (const char* tokens : {"", "1,x", "1,-2", "99999999999", "1 2 3.5", "4096", "1;2"}) {
    EXPECT_EQ(run({"logits", "--tokens", tokens}).status, 2) << tokens;
    write_file(folder.path() + "/ids", tokens);
    EXPECT_EQ(run({"logits", "--tokens-file", folder.path() + "/ids"}).status, 2) << tokens;
  }
  EXPECT_EQ(run({"logits", "--tokens-file", folder.path() + "/none"}).status, 2);
  EXPECT_EQ(run({"logits", "--tokens", "1", "--out", folder.path() + "/no/such/f"}).status, 2);
  EXPECT_EQ(run({"logits", "--tokens", "1", "--greedy", "9", "--context", "4"}).status, 2);
}

}  // namespace
}  // namespace ft::test
