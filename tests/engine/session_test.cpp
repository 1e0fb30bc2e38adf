// A session's timeline: cutting the prompt, reusing a prefix, instruction sets and threads never
// change the logits.
#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/team.h"
#include "engine/runner.h"
#include "kernels/cpu/select.h"
#include "models/registry.h"
#include "tests/engine/golden.h"
#include "tests/support/thread_counts.h"

namespace ft::test {
namespace {

EngineOptions options_for(const std::string& name) {
  EngineOptions options;
  options.model_dir = fixture_dir(name).string();
  return options;
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
  expect_equal_everywhere(options, tokens);
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

int64_t common_prefix(const std::vector<int32_t>& a, const std::vector<int32_t>& b) {
  const size_t n = std::min(a.size(), b.size());
  return std::mismatch(a.begin(), a.begin() + static_cast<int64_t>(n), b.begin()).first - a.begin();
}

/// A beginning of the fixture's prompt, often with a token changed.
std::vector<int32_t> variation(std::mt19937_64& random, const std::vector<int32_t>& prompt) {
  std::vector<int32_t> tokens = prompt;
  tokens.resize(1 + random() % prompt.size());
  if (random() % 2 == 0) tokens[random() % tokens.size()] = static_cast<int32_t>(random() % 256);
  return tokens;
}

TEST(Session, ReusingAPrefixEqualsAFreshRun) {
  const Golden golden = read_golden(fixture_dir("gpt_oss_mxfp4"));
  const auto engine = Engine::load(options_for("gpt_oss_mxfp4"));
  std::mt19937_64 random(5);
  const auto session = engine->open_session();
  std::vector<int32_t> timeline;  // that the session has keys and values of
  int64_t n_reused = 0;
  for (int trial = 0; trial < 25; ++trial) {
    const std::vector<int32_t> tokens = variation(random, golden.input_ids);
    const Request request = {.tokens = tokens, .sampling = {}, .max_tokens = 4, .stop_tokens = {}};
    const auto keep_going = [](int32_t) { return true; };
    const Reply reused = session->generate(request, keep_going);
    // The last token of a prompt is always run, for its logits.
    EXPECT_EQ(reused.n_reused,
              std::min(common_prefix(timeline, tokens), static_cast<int64_t>(tokens.size()) - 1));
    n_reused += reused.n_reused;
    session->reset();
    const Reply fresh = session->generate(request, keep_going);
    EXPECT_EQ(reused.tokens, fresh.tokens);
    EXPECT_EQ(fresh.n_reused, 0);
    timeline = tokens;
    timeline.insert(timeline.end(), fresh.tokens.begin(), fresh.tokens.end() - 1);
  }
  EXPECT_GT(n_reused, 100);
}

TEST(Session, AContinuedConversationRunsOnlyWhatIsNew) {
  const Golden golden = read_golden(fixture_dir("qwen3_moe"));
  const auto engine = Engine::load(options_for("qwen3_moe"));
  const auto session = engine->open_session();
  Request request = {
      .tokens = golden.input_ids, .sampling = {}, .max_tokens = 6, .stop_tokens = {}};
  const auto keep_going = [](int32_t) { return true; };
  const Reply first = session->generate(request, keep_going);
  request.tokens.insert(request.tokens.end(), first.tokens.begin(), first.tokens.end());
  request.tokens.insert(request.tokens.end(), {7, 8, 9});
  const Reply second = session->generate(request, keep_going);
  // All of the first prompt and its reply, but for the last token: nothing asked what follows it.
  EXPECT_EQ(second.n_reused, static_cast<int64_t>(golden.input_ids.size()) + 5);
  EXPECT_EQ(second.n_prompt, static_cast<int64_t>(request.tokens.size()));
}

class ReusedPages : public testing::TestWithParam<std::string> {};

/// As a session does it: keep the common prefix, give the other pages back, run the rest.
TEST_P(ReusedPages, GiveTheLogitsOfAFreshRun) {
  const std::vector<int32_t> prompt = read_golden(fixture_dir(GetParam())).input_ids;
  const Checkpoint checkpoint = Checkpoint::open(fixture_dir(GetParam()));
  const std::unique_ptr<Model> model = open_model(checkpoint);
  Team team(thread_counts().back());
  const Placement placement =
      plan_placement(*model, {.n_context = 400,
                              .n_prefill_rows = 9,
                              .n_threads = team.n_threads(),
                              .n_group_rows = cpu_ops("auto", false).n_group_rows});
  model->bank().fill(team, {});
  Runner runner(*model, placement,
                {.ops = &cpu_ops("auto", false), .team = &team, .may_round = true});
  const auto run = [&](const std::vector<int32_t>& tokens, int64_t first, PageTable& pages) {
    std::vector<float> logits;
    for (auto at = static_cast<size_t>(first); at < tokens.size();) {
      const size_t n = std::min<size_t>(tokens.size() - at, 9);
      EXPECT_TRUE(pages.grow(static_cast<int64_t>(at + n)));
      const auto rows = runner.step(std::span(tokens).subspan(at, n), static_cast<int64_t>(at),
                                    pages, LogitRows::kAll, Phase::kPrefill);
      logits.insert(logits.end(), rows.begin(), rows.end());
      at += n;
    }
    return logits;
  };
  std::mt19937_64 random(8);
  PageTable kept(runner.kv());
  std::vector<int32_t> timeline;
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<int32_t> tokens = variation(random, prompt);
    while (tokens.size() < 150) tokens.insert(tokens.end(), prompt.begin(), prompt.end());
    tokens.resize(1 + random() % 150);
    const int64_t n = common_prefix(timeline, tokens);
    kept.shrink(n);
    const std::vector<float> reused = run(tokens, n, kept);
    timeline = tokens;
    PageTable empty(runner.kv());
    std::vector<float> fresh = run(tokens, 0, empty);
    fresh.erase(fresh.begin(), fresh.end() - static_cast<int64_t>(reused.size()));
    EXPECT_TRUE(same_bits(reused, fresh)) << tokens.size() << " tokens, reused: " << n;
  }
}

INSTANTIATE_TEST_SUITE_P(Fixtures, ReusedPages,
                         testing::Values("qwen3_moe", "gpt_oss_mxfp4", "deepseek_v3"),
                         [](const auto& p) { return p.param; });

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
