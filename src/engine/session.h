// A timeline of tokens on a Runner.
#pragma once

#include <vector>

#include "engine/runner.h"
#include "engine/sampler.h"
#include "ft/engine.h"

namespace ft {

class RunnerSession : public Session {
 public:
  RunnerSession(Runner& runner, const ModelReport& model)
      : runner_(runner), model_(model), pages_(runner.kv()) {}

  Reply generate(const Request& request, const std::function<bool(int32_t)>& on_token) override;
  void score(std::span<const int32_t> tokens,
             const std::function<void(int64_t, std::span<const float>)>& on_logits) override;
  void reset() override;

 private:
  std::span<const float> append(std::span<const int32_t> tokens, LogitRows wanted, Phase phase);
  std::span<const float> prefill(const Request& request, Reply& reply);
  int64_t keep_common_prefix(std::span<const int32_t> tokens);
  void decode(const Request& request, std::span<const float> logits, Sampler& sampler, Reply& reply,
              const std::function<bool(int32_t)>& on_token);

  Runner& runner_;
  const ModelReport& model_;
  PageTable pages_;
  std::vector<int32_t> tokens_;  // whose keys and values are in the pages
};

}  // namespace ft
