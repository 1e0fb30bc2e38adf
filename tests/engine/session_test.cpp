// A session's timeline: cutting the prompt, reusing a prefix, instruction sets and threads never
// change the logits.
#include <cstring>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "kernels/cpu/select.h"
#include "tests/engine/golden.h"

namespace ft::test {
namespace {

EngineOptions options_for(const std::string& name) {
  EngineOptions options;
  options.model_dir = fixture_dir(name).string();
  return options;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

class AnyFixture : public testing::TestWithParam<std::string> {};

TEST_P(AnyFixture, LogitsDoNotDependOnHowThePromptIsCut) {
  const std::vector<int32_t> tokens = read_golden(fixture_dir(GetParam())).input_ids;
  EngineOptions options = options_for(GetParam());
  const std::vector<float> whole = score(options, tokens);
  for (const int64_t n_rows : {1, 7}) {
    options.n_prefill_rows = n_rows;
    EXPECT_TRUE(same_bits(whole, score(options, tokens))) << n_rows;
  }
}

TEST_P(AnyFixture, LogitsAreEqualOnEveryInstructionSetAndTeam) {
  const std::vector<int32_t> tokens = read_golden(fixture_dir(GetParam())).input_ids;
  EngineOptions options = options_for(GetParam());
  options.isa = "scalar";
  options.n_threads = 1;
  const std::vector<float> expected = score(options, tokens);
  options.n_threads = 2;
  for (const std::string& isa : available_isas()) {
    options.isa = isa;
    EXPECT_TRUE(same_bits(expected, score(options, tokens))) << isa;
  }
}

std::vector<std::string> all_fixtures() {
  std::vector<std::string> names = plain_fixtures();
  names.insert(names.end(), quantised_fixtures().begin(), quantised_fixtures().end());
  return names;
}
INSTANTIATE_TEST_SUITE_P(Fixtures, AnyFixture, testing::ValuesIn(all_fixtures()),
                         [](const auto& p) { return p.param; });

TEST(Session, GreedyReplyIsTheReferences) {
  const Golden golden = read_golden(fixture_dir("qwen3_moe"));
  EngineOptions options = options_for("qwen3_moe");
  options.kv_dtype = KvDType::kF32;
  const auto engine = Engine::load(options);
  const auto session = engine->open_session();
  std::vector<int32_t> seen;
  const Request request = {.tokens = golden.input_ids,
                           .sampling = {},
                           .max_tokens = static_cast<int64_t>(golden.greedy_ids.size()),
                           .stop_tokens = {}};
  const Reply reply = session->generate(request, [&](int32_t token) {
    seen.push_back(token);
    return true;
  });
  EXPECT_EQ(reply.tokens, golden.greedy_ids);
  EXPECT_EQ(seen, golden.greedy_ids);
  EXPECT_EQ(reply.reason, StopReason::kMaxTokens);
  EXPECT_EQ(reply.n_decode, static_cast<int64_t>(golden.greedy_ids.size()) - 1);
  EXPECT_EQ(reply.decode_bytes, static_cast<uint64_t>(reply.n_decode) * engine->model().step_bytes);
}

TEST(Session, ReusingAPrefixEqualsAFreshRun) {
  const Golden golden = read_golden(fixture_dir("gpt_oss_mxfp4"));
  const auto engine = Engine::load(options_for("gpt_oss_mxfp4"));
  std::mt19937_64 random(5);
  const auto session = engine->open_session();
  for (int trial = 0; trial < 25; ++trial) {
    std::vector<int32_t> tokens(golden.input_ids.begin(),
                                golden.input_ids.begin() + 1 + random() % 70);
    if (random() % 2 == 0) tokens[random() % tokens.size()] = static_cast<int32_t>(random() % 256);
    const Request request = {.tokens = tokens, .sampling = {}, .max_tokens = 4, .stop_tokens = {}};
    const auto keep_going = [](int32_t) { return true; };
    const Reply reused = session->generate(request, keep_going);
    session->reset();
    const Reply fresh = session->generate(request, keep_going);
    EXPECT_EQ(reused.tokens, fresh.tokens);
    EXPECT_EQ(fresh.n_reused, 0);
    EXPECT_LT(reused.n_reused, static_cast<int64_t>(tokens.size()));
  }
}

TEST(Session, StopsWhereItIsTold) {
  const Golden golden = read_golden(fixture_dir("qwen3_moe"));
  EngineOptions options = options_for("qwen3_moe");
  options.n_context = static_cast<int64_t>(golden.input_ids.size()) + 3;
  const auto engine = Engine::load(options);
  const auto session = engine->open_session();
  Request request = {
      .tokens = golden.input_ids, .sampling = {}, .max_tokens = 0, .stop_tokens = {}};
  const Reply full = session->generate(request, [](int32_t) { return true; });
  EXPECT_EQ(full.reason, StopReason::kContextFull);
  EXPECT_EQ(full.tokens.size(), 4u);
  const Reply stopped = session->generate(request, [](int32_t) { return false; });
  EXPECT_EQ(stopped.reason, StopReason::kCaller);
  EXPECT_EQ(stopped.tokens.size(), 1u);
  request.stop_tokens = {full.tokens[2]};
  const Reply at_token = session->generate(request, [](int32_t) { return true; });
  EXPECT_EQ(at_token.reason, StopReason::kStopToken);
  EXPECT_THAT(at_token.tokens, testing::ElementsAre(full.tokens[0], full.tokens[1]));
}

TEST(Session, APromptCanBeStoppedBetweenItsSteps) {
  EngineOptions options = options_for("qwen3_moe");
  options.n_prefill_rows = 8;
  const auto engine = Engine::load(options);
  const auto session = engine->open_session();
  const std::vector<int32_t> tokens = read_golden(fixture_dir("qwen3_moe")).input_ids;
  int n_asked = 0;
  Request request = {.tokens = tokens, .sampling = {}, .max_tokens = 2, .stop_tokens = {}};
  request.keep_going = [&] { return ++n_asked <= 3; };
  const Reply stopped = session->generate(request, [](int32_t) { return true; });
  EXPECT_EQ(stopped.reason, StopReason::kCaller);
  EXPECT_TRUE(stopped.tokens.empty());
  request.keep_going = {};
  const Reply resumed = session->generate(request, [](int32_t) { return true; });
  EXPECT_EQ(resumed.n_reused, 24);  // three steps of eight rows
  session->reset();
  EXPECT_EQ(resumed.tokens, session->generate(request, [](int32_t) { return true; }).tokens);
}

TEST(Session, BadRequestsAreRefusedAndHarmNothing) {
  EngineOptions options = options_for("mixtral");
  options.n_context = 20;
  const auto engine = Engine::load(options);
  const auto session = engine->open_session();
  const auto run = [&](std::vector<int32_t> tokens) {
    return session->generate(
        {.tokens = std::move(tokens), .sampling = {}, .max_tokens = 1, .stop_tokens = {}},
        [](int32_t) { return true; });
  };
  EXPECT_THROW(run({}), Error);
  EXPECT_THROW(run({1, -1}), Error);
  EXPECT_THROW(run({256}), Error);
  EXPECT_THROW(run(std::vector<int32_t>(21, 1)), Error);
  EXPECT_EQ(run({1, 2, 3}).tokens.size(), 1u);
}

TEST(Session, SeveralSessionsShareThePages) {
  EngineOptions options = options_for("mixtral");
  options.n_context = 128;
  const auto engine = Engine::load(options);
  const auto one = engine->open_session();
  const auto two = engine->open_session();
  const auto keep_going = [](int32_t) { return true; };
  const Request long_prompt = {
      .tokens = std::vector<int32_t>(100, 5), .sampling = {}, .max_tokens = 1, .stop_tokens = {}};
  EXPECT_NO_THROW(one->generate(long_prompt, keep_going));
  EXPECT_THROW(two->generate(long_prompt, keep_going), Error);  // the first one holds both pages
  one->reset();
  EXPECT_NO_THROW(two->generate(long_prompt, keep_going));
}

}  // namespace
}  // namespace ft::test
