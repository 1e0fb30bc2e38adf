// A changed config.json over the tensors of a fixture: whatever opens must also plan, load and run
// a step; the rest must end in an Error. The first byte chooses the fixture. FT_FIXTURES: the
// folder of the fixtures.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/team.h"
#include "engine/placement.h"
#include "engine/runner.h"
#include "kernels/cpu/select.h"
#include "kernels/ops.h"
#include "models/registry.h"

namespace {

namespace fs = std::filesystem;

constexpr const char* kFixtures[] = {"qwen3_moe_nvfp4", "qwen2_moe", "gpt_oss_mxfp4",
                                     "deepseek_v3",     "glm4_moe",  "minimax_m2",
                                     "mixtral",         "olmoe",     "qwen3_moe_fp8"};
constexpr uint64_t kMostBytes = 256 << 20;

/// A folder for each fixture with links to its tensors.
std::vector<fs::path> make_folders() {
  const char* root = std::getenv("FT_FIXTURES");
  if (root == nullptr) {
    std::fprintf(stderr, "set FT_FIXTURES to the folder of the fixtures\n");
    std::exit(1);
  }
  std::vector<fs::path> folders;
  static const fs::path base = fs::temp_directory_path() / ("ft-fuzz-" + std::to_string(getpid()));
  std::atexit([] { fs::remove_all(base); });
  for (const char* name : kFixtures) {
    const fs::path folder = base / name;
    fs::create_directories(folder);
    fs::create_symlink(fs::absolute(fs::path(root) / name / "model.safetensors"),
                       folder / "model.safetensors");
    folders.push_back(folder);
  }
  return folders;
}

void run(const fs::path& folder) {
  static ft::Team team(1);
  const ft::Checkpoint checkpoint = ft::Checkpoint::open(folder);
  const std::unique_ptr<ft::Model> model = ft::open_model(checkpoint);
  const ft::Placement placement =
      ft::plan_placement(*model, {.n_context = std::min<int64_t>(model->card().n_context, 100),
                                  .n_prefill_rows = 3,
                                  .n_threads = 1,
                                  .n_group_rows = ft::cpu_ops("auto", false).n_group_rows});
  ft::check_fits(placement, kMostBytes);
  model->bank().fill(team, {});
  ft::Runner runner(*model, placement,
                    {.ops = &ft::cpu_ops("auto", false), .team = &team, .may_round = true});
  ft::PageTable pages(runner.kv());
  const int32_t last = static_cast<int32_t>(model->card().n_vocab - 1);
  std::vector<int32_t> tokens = {0, last, last / 2};
  tokens.resize(static_cast<size_t>(std::min<int64_t>(3, placement.n_context)));
  if (pages.grow(placement.n_context)) {
    runner.step(std::span(tokens).first(
                    static_cast<size_t>(std::min<int64_t>(placement.n_prefill_rows, 3))),
                0, pages, ft::LogitRows::kLast, ft::Phase::kPrefill);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::vector<fs::path> folders = make_folders();
  if (size == 0) return 0;
  const fs::path& folder = folders[data[0] % folders.size()];
  std::ofstream(folder / "config.json", std::ios::binary)
      .write(reinterpret_cast<const char*>(data + 1), static_cast<std::streamsize>(size - 1));
  try {
    run(folder);
  } catch (const ft::Error&) {
  }
  return 0;
}
