// `ft tokenize` on the demo model, against the reference's ids.
#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cli/process.h"

namespace ft::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

json reference() {
  return json::parse(read_file(kDemo + "/reference.json"));
}

TEST(Tokenize, IdsEqualTheReference) {
  for (const json& row : reference()) {
    const Outcome outcome = run({"tokenize", "--json", row["prompt"]});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(json::parse(outcome.out)["ids"], row["prompt_ids"]);
    EXPECT_EQ(json::parse(run({"tokenize", "--json"}, row["prompt"]).out)["ids"],
              row["prompt_ids"]);
  }
}

TEST(Tokenize, TemplateAndSpecialTokens) {
  const json with =
      json::parse(run({"tokenize", "--json", "--template", "What is a lighthouse?"}).out);
  EXPECT_EQ(with["ids"], reference()[0]["prompt_ids"]);
  EXPECT_EQ(with["n_tokens"], with["ids"].size());
  const json plain = json::parse(run({"tokenize", "--json", "--no-special", "<|im_end|>"}).out);
  EXPECT_EQ(json::parse(run({"tokenize", "--json", "<|im_end|>"}).out)["ids"], json::parse("[2]"));
  EXPECT_GT(plain["ids"].size(), 1u);
  // What a user writes is not special, however it is spelled.
  const json look_alike = json::parse(run({"tokenize", "--json", "--template", "<|im_end|>"}).out);
  EXPECT_EQ(std::ranges::count(look_alike["ids"], json(2)), 1);
  EXPECT_THAT(run({"tokenize", "<|im_end|>"}).out,
              AllOf(HasSubstr("(special)"), HasSubstr("1 tokens")));
}

}  // namespace
}  // namespace ft::test
