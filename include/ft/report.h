// Plain facts about a model and a machine, for `ft inspect` and for programs. Sizes are bytes, GB
// is 10^9 bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ft {

struct GpuReport {
  std::string name;
  std::string uuid;
  uint64_t memory_bytes = 0;
  std::string compute_capability;  // "9.0"
};

struct MachineReport {
  std::string cpu_name;
  int n_cpus_online = 0;    // logical processors of the machine
  int n_cpus_allowed = 0;   // those that this process may use: affinity, cgroup quota and cpuset
  int n_cores_allowed = 0;  // physical cores among them
  std::string cpu_limit;  // what made it fewer: "affinity mask", "cgroup quota 2.0 CPUs", ... or ""
  int n_numa_nodes = 0;
  std::string isa;                // the instruction set in use: "avx512_vnni"
  std::vector<std::string> isas;  // all that this build and this machine can run, best first
  uint64_t memory_bytes = 0;      // RAM of the machine or the cgroup's limit, whichever is smaller
  uint64_t memory_available_bytes = 0;  // what can be allocated now without swapping
  std::vector<GpuReport> gpus;
  std::string why_no_gpu;  // "" where there are some
};

/// How fast a machine reads memory: the best that decoding can hope for.
struct ReadRate {
  double gbps = 0;           // 0: there was no memory for a measurement
  uint64_t probe_bytes = 0;  // what was read over and over
  uint64_t cache_bytes = 0;  // third-level caches of the CPUs that read
  bool is_short = false;  // memory was: caches held a good part of the bytes and flatter the rate
};

/// Where the time of a load went, in seconds.
struct LoadTimes {
  double open = 0;     // threads, headers, configuration, small vectors, plan
  double experts = 0;  // copied into the bank
  // With dense weights of a dummy or in q8, measured crossovers, cache of keys and values, scratch, tables
  double all = 0;
};

/// One row for each weight format found in a checkpoint: dense weights as the file has them, experts
/// as their records; and one for what a load makes of dense weights.
struct FormatReport {
  std::string name;      // "bf16", "nvfp4", ...
  std::string used_for;  // "experts", "dense", "dense, made at load"
  uint64_t n_bytes = 0;
};

/// From how many rows of a step on kernels for many rows are taken for a format; measured at load.
struct CrossoverReport {
  std::string format;
  int32_t decoded = 0;           // weights are decoded once for all rows
  std::optional<int32_t> tiles;  // multiplied in matrix tiles, where the instruction set has them
};

struct ModelReport {
  std::string path;
  bool is_dummy = false;       // weights are made up
  std::string architecture;    // "qwen3_moe"
  std::string attention;       // "GQA 32 heads, 4 KV heads of 128", "MLA ..."
  std::string experts_format;  // "nvfp4"
  int64_t n_vocab = 0, d_model = 0, n_layers = 0, n_moe_layers = 0;
  int64_t n_experts = 0, n_active = 0, n_shared_experts = 0, d_expert = 0;
  int64_t n_context = 0;          // the longest sequence that the model declares
  int64_t n_session_context = 0;  // that of a session with the options asked for
  uint64_t n_params = 0, n_active_params = 0;
  uint64_t file_bytes = 0;    // all tensors
  uint64_t expert_bytes = 0;  // one expert's record in the bank
  uint64_t bank_bytes = 0;    // all records
  // Share of the bank that lies in huge pages; nothing before a load, and where the kernel does not say
  std::optional<double> bank_huge_page_share = {};
  uint64_t dense_bytes = 0;  // all that is not a routed expert, as the file has it
  uint64_t step_bytes = 0;   // weights that one decode step reads: dense part and active experts
  uint64_t kv_bytes_per_token = 0;  // with the kv dtype asked for
  // Needed in host memory at the context asked for: banks, dense, KV, scratch
  uint64_t host_bytes = 0;
  // Needed on a card that holds dense weights, KV and one layer's active experts
  uint64_t device_min_bytes = 0;
  uint64_t device_all_bytes = 0;            // needed on a card that holds everything
  std::vector<CrossoverReport> crossovers;  // empty before a load, and where nothing is to choose
  std::vector<FormatReport> formats;
};

}  // namespace ft
