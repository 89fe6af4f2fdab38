// One GPU's share of a replica: its part of the model, and the room for it.
#include <string>

#include "sim/step/recorder.hpp"
#include "workloads/llm/device_step.hpp"
#include "workloads/llm/ffn_share.hpp"
#include "workloads/llm/weight_parts.hpp"

namespace tiersim {

DeviceRecord device_record(const ScenarioConfig& config, const System& system, std::int64_t batch) {
  const ParallelConfig& parallel = config.parallel;
  AttentionContext replica = context_of(config, system);
  replica.step.batch = batch;
  const AttentionContext own = device_step(replica).context;
  const LlmConfig& model = own.model;
  DeviceRecord out{.gpus_per_replica = parallel.devices(),
                   .tensor = parallel.tensor,
                   .latent_slices = parallel.latent_slices,
                   .context = parallel.cuts_prompts() ? parallel.context : std::nullopt,
                   .pipeline = parallel.pipeline,
                   .attention = std::string(
                       kAttentionSharingNames[static_cast<std::size_t>(parallel.attention)]),
                   .attention_tensor = parallel.attention_tensor,
                   .tier = config.placement.near,
                   .layers = model.layers,
                   .sequences = own.step.batch,
                   .query_heads = model.heads,
                   .kv_elements_per_token_layer =
                       model.cached_heads() * (model.key_width() + model.value_width()),
                   .weights = {}};
  WeightParts parts = weight_parts(model);
  if (own.ffn)
    parts[static_cast<std::size_t>(WeightPart::router)] +=
        router_weights_beside_attention(*own.ffn);
  const WeightParts all = weight_parts(config.model);
  for (std::size_t p = 0; p < parts.size(); ++p)
    if (parts[p] > 0)
      out.weights.push_back(
          {std::string(kWeightPartNames[p]), parts[p], all[p],
           stored_part(static_cast<WeightPart>(p), parts[p], config.step, config.execution)
               .in_base()});
  return out;
}

void Recorder::device() {
  const System& system = *sim_.system;
  record_.device = device_record(config_, system, config_.step.batch);
  for (std::size_t t = 0; t < system.tier_names().size(); ++t)
    record_.capacity_bytes[system.tier_names()[t]] = system.capacity(TierId(t)).in_base();
}

}  // namespace tiersim
