#include "sim/step/ffn_config.hpp"

namespace tiersim {

void describe(Fields& f, FfnConfig& c) {
  f.doc("GPUs that have the MLPs and experts of every layer, while those of the system attend.");
  f.document("system", c.system, "system", "Their hardware; all of its GPUs share each MLP.");
  f.optional("experts", c.experts, kExpertSharingNames,
             "A part of every expert on each of them, or whole experts on each.");
  f.optional("dense", c.dense, kDenseSharingNames,
             "Dense MLPs: split over all of them, or whole on each for a part of the tokens.");
  f.optional("redundant_experts", c.redundant_experts,
             "Slots for copies of popular experts, over all of them.", in_range(0, 100'000));
  f.optional("expert_placement", c.expert_placement, kExpertPlacementNames,
             "Which of them has which expert.");
  f.optional("dispatch_type", c.dispatch_type, kDataTypeNames,
             "Of the rows that are sent to them; bf16 by default. Outputs return in bf16.");
  f.optional("micro_batches", c.micro_batches,
             "Parts of a batch that take turns, so that both kinds of GPUs have work.",
             in_range(1, 64));
  f.optional("near", c.near, "Tier of the weights in their system; placement.near by default.");
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
