#include "cli/report_json.h"

#include <utility>

#include <nlohmann/json.hpp>

namespace ft {

using Json = nlohmann::ordered_json;

namespace {

Json or_null(std::optional<double> value) {
  return value ? Json(*value) : Json(nullptr);
}

}  // namespace

std::string report_json(const ModelReport& model) {
  Json formats = Json::array();
  for (const FormatReport& format : model.formats) {
    formats.push_back(
        {{"name", format.name}, {"used_for", format.used_for}, {"n_bytes", format.n_bytes}});
  }
  Json crossovers = Json::array();
  for (const CrossoverReport& rows : model.crossovers) {
    crossovers.push_back({{"format", rows.format},
                          {"decoded_from_rows", rows.decoded},
                          {"tiles_from_rows", rows.tiles ? Json(*rows.tiles) : Json(nullptr)}});
  }
  const Json json{{"path", model.path},
                  {"load_format", model.is_dummy ? "dummy" : "auto"},
                  {"architecture", model.architecture},
                  {"attention", model.attention},
                  {"experts_format", model.experts_format},
                  {"n_vocab", model.n_vocab},
                  {"d_model", model.d_model},
                  {"n_layers", model.n_layers},
                  {"n_moe_layers", model.n_moe_layers},
                  {"n_experts", model.n_experts},
                  {"n_active", model.n_active},
                  {"n_shared_experts", model.n_shared_experts},
                  {"d_expert", model.d_expert},
                  {"n_context", model.n_context},
                  {"n_session_context", model.n_session_context},
                  {"n_params", model.n_params},
                  {"n_active_params", model.n_active_params},
                  {"file_bytes", model.file_bytes},
                  {"expert_bytes", model.expert_bytes},
                  {"bank_bytes", model.bank_bytes},
                  {"bank_huge_page_share", or_null(model.bank_huge_page_share)},
                  {"dense_bytes", model.dense_bytes},
                  {"step_bytes", model.step_bytes},
                  {"kv_bytes_per_token", model.kv_bytes_per_token},
                  {"host_bytes", model.host_bytes},
                  {"device_min_bytes", model.device_min_bytes},
                  {"device_all_bytes", model.device_all_bytes},
                  {"crossovers", std::move(crossovers)},
                  {"formats", std::move(formats)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string report_json(const MachineReport& machine) {
  Json gpus = Json::array();
  for (const GpuReport& gpu : machine.gpus) {
    gpus.push_back({{"name", gpu.name},
                    {"uuid", gpu.uuid},
                    {"memory_bytes", gpu.memory_bytes},
                    {"compute_capability", gpu.compute_capability}});
  }
  const Json json{{"cpu_name", machine.cpu_name},
                  {"n_cpus_online", machine.n_cpus_online},
                  {"n_cpus_allowed", machine.n_cpus_allowed},
                  {"n_cores_allowed", machine.n_cores_allowed},
                  {"cpu_limit", machine.cpu_limit},
                  {"n_numa_nodes", machine.n_numa_nodes},
                  {"isa", machine.isa},
                  {"isas", machine.isas},
                  {"memory_bytes", machine.memory_bytes},
                  {"memory_available_bytes", machine.memory_available_bytes},
                  {"gpus", std::move(gpus)},
                  {"why_no_gpu", machine.gpus.empty() ? Json(machine.why_no_gpu) : Json(nullptr)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace ft
