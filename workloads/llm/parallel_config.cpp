#include "workloads/llm/parallel_config.hpp"

namespace tiersim {

void describe(Fields& f, ParallelConfig& c) {
  f.doc("How the GPUs of one replica share the model.");
  f.optional("tensor", c.tensor, "GPUs that split heads, MLP columns and vocabulary.",
             in_range(1, 16384));
  f.optional("latent_slices", c.latent_slices,
             "Slices of the latent, each with all heads, on groups of the tensor GPUs (TPLA); 1: "
             "every GPU has the whole latent (MLA).",
             in_range(1, 1024));
  f.optional("attention", c.attention, kAttentionSharingNames,
             "tensor: its heads are split; data: each GPU has sequences of its own.");
  f.optional("attention_tensor", c.attention_tensor,
             "With attention: data. GPUs that share sequences and split their heads; 1 where "
             "absent. Their collectives run over fabrics.tensor, too.",
             in_range(1, 1024));
  f.check(!c.attention_tensor || c.attention == AttentionSharing::data, "attention_tensor",
          "is of attention: data, and all GPUs of `tensor` attend together here",
          "attention: data, or leave it out");
  f.optional("output_projection", c.output_projection, kOutputProjectionNames,
             "Every latent slice has the output whole, or its part after a reduce-scatter.");
  f.optional("pipeline", c.pipeline, "Stages of consecutive layers.", in_range(1, 1024));
  f.optional("experts", c.experts, kExpertSharingNames,
             "split: a part of every expert on each GPU; spread: whole experts.");
  f.optional("dense", c.dense, kDenseSharingNames,
             "With attention: data. tensor: dense MLPs, embedding and head are split over the GPUs "
             "of `tensor`, which gather all tokens for them; data: over the GPUs of "
             "`attention_tensor`, for their own tokens.");
  f.check(c.dense != DenseSharing::data || c.sequences_are_spread(), "dense",
          "is data, and GPUs have no sequences of their own", "attention: data, or leave it out");
  f.optional(
      "redundant_experts", c.redundant_experts,
      "Slots of a layer for copies of experts, on all GPUs together; where no expert_load is "
      "stated, all slots have equal rows.",
      in_range(0, 4096));
  f.optional("expert_placement", c.expert_placement, kExpertPlacementNames,
             "contiguous: in the order of the experts; balanced: by their loads, as EPLB.");
  f.optional("dispatch_type", c.dispatch_type, kDataTypeNames,
             "Element type of the rows that are sent to experts; bf16 where absent. Outputs come "
             "back in bf16.");
  f.check((c.experts == ExpertSharing::spread && c.tensor > 1) || c.redundant_experts == 0,
          "redundant_experts", "are of experts that are spread over several GPUs",
          "experts: spread, tensor: 8");
  f.check(c.experts == ExpertSharing::spread || c.expert_placement == ExpertPlacement::contiguous,
          "expert_placement", "is of experts that are spread", "experts: spread");
  f.check(!c.dispatch_type || (c.experts == ExpertSharing::spread && c.sequences_are_spread()),
          "dispatch_type", "is of experts to which rows are sent",
          "experts: spread, attention: data");
  f.optional("context", c.context,
             "Groups of tensor GPUs that cut the positions of every sequence; 1 where absent.",
             in_range(1, 1024));
  f.optional(
      "context_order", c.context_order, kContextOrderNames,
      "Pieces of a prompt on each of them. zigzag: the r-th from the start and from the end; "
      "contiguous: one.");
  f.optional("context_exchange", c.context_exchange, kContextExchangeNames,
             "How queries meet the keys of others. ring: one rank further in each step, beside the "
             "attention; all_gather: all before it; all_to_all: heads for positions.");
  f.optional("context_ring", c.context_ring, kContextRingNames,
             "What goes round in a ring. pass_kv: keys and values; pass_q: queries, whose partial "
             "results go back; auto: the one of which a rank sends fewer bytes.");
}

}  // namespace tiersim
