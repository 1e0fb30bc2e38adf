#include "engine/opened_model.h"

#include "base/cpus.h"
#include "device/machine.h"
#include "kernels/cpu/select.h"
#include "kernels/ops.h"
#include "models/registry.h"

namespace ft {

OpenedModel open_planned(const EngineOptions& options, int n_threads) {
  OpenedModel opened;
  const bool is_dummy = options.load_format == LoadFormat::kDummy;
  opened.checkpoint = std::make_unique<Checkpoint>(
      is_dummy ? Checkpoint::open_dummy(options.model_dir, options.dummy_seed)
               : Checkpoint::open(options.model_dir));
  opened.model = open_model(*opened.checkpoint);
  if (options.dense_dtype == DenseDType::kQ8) opened.model->plan_q8();
  opened.placement = plan_placement(
      *opened.model, {.n_context = options.n_context,
                      .n_prefill_rows = options.n_prefill_rows,
                      .n_threads = n_threads,
                      .n_group_rows = cpu_ops(options.isa, options.exact).n_group_rows,
                      .kv_dtype = options.exact ? KvDType::kF32 : options.kv_dtype,
                      .is_dense_mapped = !is_dummy});
  return opened;
}

ModelReport report_of(const OpenedModel& opened) {
  const Model& model = *opened.model;
  const Placement& placement = opened.placement;
  const ModelCard& card = model.card();
  const ExpertLayout& layout = model.bank().layout();
  ModelReport r;
  r.path = opened.checkpoint->folder().string();
  r.is_dummy = opened.checkpoint->dummy() != nullptr;
  r.architecture = card.architecture;
  r.attention = card.attention;
  r.n_vocab = card.n_vocab;
  r.d_model = card.d_model;
  r.n_layers = card.n_layers;
  r.n_moe_layers = card.n_moe_layers;
  r.n_shared_experts = card.n_shared_experts;
  r.n_context = card.n_context;
  r.n_session_context = placement.n_context;
  r.n_params = card.n_params;
  r.n_active_params = card.n_active_params;
  r.file_bytes = opened.checkpoint->tensor_bytes();
  r.dense_bytes = card.dense_bytes;
  r.step_bytes = card.step_bytes;
  r.kv_bytes_per_token = kv_bytes_per_token(placement.kv);
  r.host_bytes = placement.total_bytes();
  for (const auto& [format, tally] : model.weights().dense_tally()) {
    r.formats.push_back(
        {.name = std::string(name_of(format)), .used_for = "dense", .n_bytes = tally.n_bytes});
  }
  if (placement.q8_bytes > 0) {
    r.formats.push_back({.name = std::string(Q8::kName),
                         .used_for = "dense, made at load",
                         .n_bytes = placement.q8_bytes});
  }
  const uint64_t resident = placement.total_bytes() - placement.bank_bytes;
  r.device_min_bytes = resident;
  r.device_all_bytes = resident;
  if (card.n_moe_layers > 0) {
    r.n_experts = card.router.n_experts;
    r.n_active = card.router.n_active;
    r.d_expert = layout.shape().d_expert;
    r.experts_format = name_of(layout.shape().format);
    r.expert_bytes = layout.record_bytes();
    r.bank_bytes = placement.bank_bytes;
    r.device_min_bytes += static_cast<uint64_t>(card.router.n_active) * layout.record_bytes();
    r.device_all_bytes += r.bank_bytes;
    r.formats.push_back({.name = r.experts_format, .used_for = "experts", .n_bytes = r.bank_bytes});
  }
  return r;
}

ModelReport inspect_model(const EngineOptions& options) {
  const int n_threads = options.n_threads > 0 ? options.n_threads : allowed_cpus().n_cores;
  return report_of(open_planned(options, n_threads));
}

MachineReport inspect_machine(const std::string& isa) {
  MachineReport machine = describe_machine();
  machine.isa = cpu_ops(isa, false).name;
  machine.isas = available_isas();
  return machine;
}

}  // namespace ft
