#include "workloads/llm/execution_config.hpp"

namespace tiersim {

void describe(Fields& f, ExchangeSms& c) {
  f.doc("SMs that products leave to exchanges between experts.");
  f.required("taken", c.taken, "SMs that the exchange has.", in_range(1, 1024));
  f.required("of", c.of, "All SMs of the GPU.", in_range(1, 1024));
  f.check(c.taken.value < c.of.value, "taken", "leaves no SM to other kernels", "below `of`");
}

void describe(Fields& f, ExecutionConfig& c) {
  f.doc("Kernels of an engine besides products, attention and collectives.");
  f.optional("source", c.source, "Where it is stated.");
  f.optional("norms", c.norms, kNormKernelsNames,
             "Norms with the residual: in other operations, kernels of their own, or in the "
             "all-reduce where one comes before.");
  f.optional("query_norms", c.query_norms, kQueryNormsNames,
             "Norms over queries and keys, of models that have them: in other operations, one "
             "kernel for both, or a kernel for each.");
  f.optional("latent_norms", c.latent_norms, kQueryNormsNames,
             "The same for norms over latents (MLA, DeepSeek-V4): of queries, and of keys and "
             "values. Fused "
             "by default.");
  f.optional("latent_products", c.latent_products, kLatentProductsNames,
             "Whether two kernels compute the latent of queries and that of keys and values (MLA), "
             "or one kernel computes both. `kernels` by default.");
  f.optional("rotary", c.rotary, kSmallKernelNames, "Rotary embedding of queries and keys.");
  f.optional("append", c.append, kSmallKernelNames, "Writing new keys and values to the cache.");
  f.optional("activation", c.activation, kSmallKernelNames, "Activation of a dense MLP.");
  f.optional("expert_sum", c.expert_sum, kSmallKernelNames,
             "Sum of the outputs of shared and routed experts. Fused by default.");
  f.optional("linear_split", c.linear_split, kSmallKernelNames,
             "Splitting of the joint product before linear attention into queries, keys, values "
             "and gates. Fused by default.");
  f.optional("linear_norm", c.linear_norm, kSmallKernelNames,
             "Gated norm of the outputs of linear attention. Fused by default.");
  f.optional("sampling", c.sampling, kSmallKernelNames, "Choice of a token from the logits.");
  f.optional("scales", c.scales, kActivationScalesNames,
             "Of the input of products of fp8: found by each product, or known beforehand.");
  f.optional("mxfp4_inputs", c.mxfp4_inputs, kMxfp4InputsNames,
             "Of products with weights in mxfp4: bf16, for which weights are widened, or fp8 "
             "(mxfp8). bf16 by default.");
  f.optional("shared_experts", c.shared_experts, kSharedExpertsNames,
             "When shared experts are computed: after the routed ones, beside them on a second "
             "stream, or fused into the kernel of the routed ones. `after` by default. The key "
             "changes a time only if the GPU has a calibration for experts.");
  f.optional("beside_tokens", c.beside_tokens,
             "Largest number of tokens on a GPU for which shared experts run beside the routed "
             "ones. By default there is no limit. Without effect under `after`.",
             in_range(1, 1'000'000'000));
  f.optional("exchange_sms", c.exchange_sms,
             "SMs that products of two micro-batches leave to exchanges between experts.");
  f.optional("dependent_launch", c.dependent_launch,
             "By how much each kernel and collective begins earlier than after the launch that its "
             "timing holds, at most that launch (programmatic dependent launch).",
             in_range(Duration{}, Duration(100'000'000)));
  f.optional("vocabulary_type", c.vocabulary_type, kDataTypeNames,
             "Type of the embedding and the head; by default that of all weights.");
}

}  // namespace tiersim
