#include "workloads/llm/parallel_config.hpp"

namespace tiersim {

void describe(Fields& f, ParallelConfig& c) {
  f.doc("How the GPUs of one replica share the model.");
  f.optional("tensor", c.tensor, "GPUs that split heads, MLP columns and vocabulary.",
             in_range(1, 1024));
  f.optional("latent_slices", c.latent_slices,
             "Slices of the latent, each with all heads, on groups of the tensor GPUs (TPLA); 1: "
             "every GPU has the whole latent (MLA).",
             in_range(1, 1024));
  f.optional("attention", c.attention, kAttentionSharingNames,
             "tensor: its heads are split; data: each GPU has sequences of its own.");
  f.optional("output_projection", c.output_projection, kOutputProjectionNames,
             "Every latent slice has the output whole, or its part after a reduce-scatter.");
  f.optional("pipeline", c.pipeline, "Stages of consecutive layers.", in_range(1, 1024));
  f.optional("experts", c.experts, kExpertSharingNames,
             "split: a part of every expert on each GPU; spread: whole experts.");
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
