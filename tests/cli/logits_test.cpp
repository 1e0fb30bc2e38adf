// `ft logits` on the demo model, against the reference's logits and continuation.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/process.h"

namespace ft::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

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

struct Mistake {
  const char* tokens;
  std::vector<std::string> words;  // of the message
};

TEST(Logits, TokensThatAreNoneAreRefused) {
  Folder folder;
  const std::string file = folder.path() + "/ids";
  for (const Mistake& mistake : {Mistake{" , ", {"no token ids"}},
                                 {"1,x", {"entry 2", "'x'"}},
                                 {"1,-2", {"entry 2", "'-2'"}},
                                 {"99999999999", {"entry 1", "'99999999999'"}},
                                 {"1 2 3.5", {"entry 3", "'3.5'"}},
                                 {"1;2", {"entry 1", "'1;2'"}},
                                 {"1,4096", {"token 4096", "position 1", "vocabulary of 4096"}}}) {
    const Outcome direct = run({"logits", "--tokens", mistake.tokens});
    write_file(file, mistake.tokens);
    const Outcome from_file = run({"logits", "--tokens-file", file});
    for (const Outcome& outcome : {direct, from_file}) {
      EXPECT_EQ(outcome.status, 2) << mistake.tokens;
      EXPECT_EQ(outcome.out, "");
      EXPECT_THAT(outcome.err, StartsWith("ft: error: "));  // and nothing of a load before it
      for (const std::string& word : mistake.words) EXPECT_THAT(outcome.err, HasSubstr(word));
    }
  }
  write_file(file, "");
  EXPECT_THAT(run({"logits", "--tokens-file", file}).err, HasSubstr(file + ": no token ids"));
  const Outcome missing = run({"logits", "--tokens-file", folder.path() + "/none"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr(folder.path() + "/none"));
}

TEST(Logits, WhatCannotBeIsRefusedBeforeTheLoad) {
  Folder folder;
  const auto refusal = [](std::vector<std::string> more) {
    more.insert(more.begin(), "logits");
    const Outcome outcome = run(more);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.err, StartsWith("ft: error: "));
    return outcome.err;
  };
  EXPECT_THAT(refusal({"--tokens", "1,2,3", "--context", "2"}),
              AllOf(HasSubstr("has 3 tokens"), HasSubstr("holds 2")));
  EXPECT_THAT(refusal({"--tokens", "1,2", "--context", "4", "--greedy", "4"}),
              AllOf(HasSubstr("--greedy 4"), HasSubstr("context of 4"), HasSubstr("room for 3")));
  EXPECT_EQ(run({"logits", "--tokens", "1,2", "--context", "4", "--greedy", "3"}).status, 0);
  EXPECT_THAT(refusal({"--tokens", "1", "--out", folder.path() + "/no/such/f"}),
              AllOf(HasSubstr("--out"), HasSubstr(folder.path() + "/no/such;")));
  EXPECT_THAT(refusal({"--tokens", "1", "--out", folder.path()}), HasSubstr("is a folder"));
  EXPECT_THAT(refusal({"--tokens", "1", "--out", folder.path() + "/"}), HasSubstr("is a folder"));
}

TEST(Logits, MoreTokensThanTheContextCostNoMemory) {
  // Their logits would take 4 million times 4,096 floats.
  Folder folder;
  std::string ids = "1";
  for (int i = 1; i < 4'000'000; ++i) ids += ",1";
  write_file(folder.path() + "/ids", ids);
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, {"--out", folder.path() + "/l.safetensors"}}) {
    std::vector<std::string> call{"logits", "--tokens-file", folder.path() + "/ids"};
    call.insert(call.end(), more.begin(), more.end());
    const Outcome outcome = run(call);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("4000000 tokens"), HasSubstr("holds 2048")));
  }
}

TEST(Logits, ANaNIsNeverAmongTheBest) {
  Folder folder;
  const std::string model = folder.path() + "/m";
  std::string weights = read_file(kDemo + "/model.safetensors");
  const File file = read_safetensors(kDemo + "/model.safetensors");
  const size_t d_model = 256;
  const size_t begin = weights.size() - file.data.size() +
                       file.header["model.embed_tokens.weight"]["data_offsets"][0].get<size_t>();
  // The head is tied: a row of NaN makes one logit of each position NaN.
  for (const size_t token : {7, 40, 1000, 4095}) {
    for (size_t i = 0; i < d_model; ++i) {
      weights.replace(begin + (token * d_model + i) * 2, 2, "\xc0\x7f");
    }
  }
  copy_demo(model, {{"model.safetensors", weights}});
  const std::string ids = joined(reference()[0]["prompt_ids"]);
  EXPECT_EQ(run({"logits", "--model", model, "--tokens", ids}).out,
            run({"logits", "--tokens", ids}).out);
}

TEST(Logits, ANormThatIsNoNumberIsRefused) {
  Folder folder;
  int n_models = 0;
  const std::string weights = read_file(kDemo + "/model.safetensors");
  const File file = read_safetensors(kDemo + "/model.safetensors");
  for (const std::string name : {"model.norm.weight", "model.layers.2.self_attn.q_norm.weight"}) {
    for (const std::string& bits : {std::string("\xc0\x7f"), std::string("\x80\xff")}) {
      std::string damaged = weights;
      damaged.replace(weights.size() - file.data.size() +
                          file.header[name]["data_offsets"][0].get<size_t>() + 6,
                      2, bits);
      const std::string model = folder.path() + "/" + std::to_string(n_models++);
      copy_demo(model, {{"model.safetensors", damaged}});
      for (const char* dtype : {"file", "q8"}) {
        const Outcome outcome =
            run({"logits", "--model", model, "--tokens", "1,2", "--dense-dtype", dtype});
        EXPECT_EQ(outcome.status, 2);
        EXPECT_THAT(outcome.err, AllOf(HasSubstr(name), HasSubstr("at index 3")));
      }
    }
  }
}

}  // namespace
}  // namespace ft::test
