#include "workloads/llm/step_config.hpp"

namespace tiersim {

void describe_types(Fields& f, StepConfig& c) {
  f.optional("weight_type", c.weight_type, kDataTypeNames, "Element type of the weights.");
  f.optional("weight_types", c.weight_types, "Element types of parts of the weights that differ.");
  f.optional("kv_type", c.kv_type, kDataTypeNames,
             "Element type of the KV cache; fp8_block: fp8 with a scale for 128 elements, and the "
             "rotary key of a latent in bf16.");
  f.optional("state_type", c.state_type, kStateTypeNames,
             "Element type of the states of linear attention.");
  f.optional(
      "expert_skew", c.expert_skew,
      "Exponent of the power law that the loads of experts follow; timings of expert kernels "
      "have 1.01 and 1.2, and near 0 loads are even. 0: every token chooses by chance. All "
      "GPUs that experts are spread over work as long as the one with most rows.",
      in_range(0, 4));
  f.optional("expert_load", c.expert_load,
             "Popularity of experts, by which parallel.expert_placement and redundant_experts "
             "balance GPUs. By default experts are equally popular and tokens choose by chance. A "
             "step takes as long as the GPU with the most rows.");
  f.check(!c.expert_load || c.expert_skew == 0, "expert_load", "stands beside expert_skew",
          "one law; leave the other out");
}

void describe(Fields& f, StepConfig& c) {
  f.doc("One step of a batch of sequences of equal length.");
  f.optional("kind", c.kind, kStepKindNames,
             "decode: one new position a sequence; prefill: all of them.");
  f.required("batch", c.batch, "Sequences in the batch.", in_range(1, 1'000'000));
  f.required("context", c.context, "Positions of each sequence, the newest included.",
             in_range(1, 100'000'000));
  f.optional("cached", c.cached,
             "Of a prefill: how many of these positions, from the first on, are in the cache; none "
             "where absent.",
             in_range(1, 100'000'000));
  f.optional("encoder_context", c.encoder_context,
             "Positions of the encoder's input, for models that have an encoder.",
             in_range(0, 100'000'000));
  describe_types(f, c);
  f.optional("overlap", c.overlap, kOverlapNames, "Operations that may run at the same time.");
  f.optional("region", c.region, kRegionNames, "Which operations are timed; all by default.");
  f.optional("latent", c.latent, kLatentUnpackingNames,
             "Where latent attention unpacks keys and values.");
}

void types_from(const LlmConfig& model, StepConfig& step) {
  if (!model.weights || step.typed_by_model) return;
  step.weight_type = model.weights->type;
  step.weight_types = model.weights->parts;
  step.typed_by_model = true;
}

LatentForm latent_form(const StepConfig& step) {
  if (step.latent == LatentUnpacking::automatic)
    return step.kind == StepKind::decode ? LatentForm::absorbed : LatentForm::explicit_heads;
  return step.latent == LatentUnpacking::absorbed ? LatentForm::absorbed
                                                  : LatentForm::explicit_heads;
}

}  // namespace tiersim
