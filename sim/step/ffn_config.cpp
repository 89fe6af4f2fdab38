#include "sim/step/ffn_config.hpp"

namespace tiersim {

void describe(Fields& f, FfnConfig& c) {
  f.doc("GPUs that have the MLPs and experts of every layer, while those of the system attend.");
  f.document("system", c.system, "system",
             "The hardware with the MLPs; all of its GPUs share each of them.");
  f.optional("experts", c.experts, kExpertSharingNames,
             "A part of every expert on each FFN GPU, or whole experts on each.");
  f.optional("dense", c.dense, kDenseSharingNames,
             "Dense MLPs: split over all FFN GPUs, or whole on each for a part of the tokens.");
  f.optional("redundant_experts", c.redundant_experts,
             "Slots for copies of popular experts, over all FFN GPUs.", in_range(0, 100'000));
  f.optional("expert_placement", c.expert_placement, kExpertPlacementNames,
             "Which FFN GPU has which expert.");
  f.optional(
      "dispatch_type", c.dispatch_type, kDataTypeNames,
      "Type of the tokens that are sent to the FFN GPUs; bf16 by default. Outputs return in bf16.");
  f.optional("micro_batches", c.micro_batches,
             "Parts of a batch that take turns, so that both kinds of GPUs have work.",
             in_range(1, 64));
  f.optional("near", c.near,
             "Tier of `ffn.system` that has the weights; placement.near by default.");
}

ParallelConfig FfnConfig::parallel() const {
  return {.tensor = system.gpus.count,
          .attention = AttentionSharing::data,
          .experts = experts,
          .dense = dense,
          .redundant_experts = redundant_experts,
          .expert_placement = expert_placement,
          .dispatch_type = dispatch_type};
}

}  // namespace tiersim
