#include "workloads/llm/llm_config.hpp"

namespace tiersim {

std::int64_t LlmConfig::parameters() const {
  const std::int64_t attention = hidden * (2 * query_width() + 2 * kv_width());
  const std::int64_t mlp = 3 * hidden * intermediate;
  const std::int64_t norms = 2 * hidden;
  const std::int64_t embeddings = (tied_embeddings ? 1 : 2) * vocabulary * hidden;
  return layers * (attention + mlp + norms) + embeddings + hidden;
}

void describe(Fields& f, LlmConfig& c) {
  f.doc("A decoder-only transformer, by its published dimensions.");
  f.required("name", c.name, "Name of the model.");
  f.required("source", c.source, "Where the dimensions are published.");
  f.required("layers", c.layers, "Decoder layers.", in_range(1, 1000));
  f.required("hidden", c.hidden, "Width of the residual stream.", in_range(1, 200'000));
  f.required("heads", c.heads, "Query heads.", in_range(1, 4096));
  f.required("kv_heads", c.kv_heads, "Key and value heads; fewer than heads under GQA.",
             in_range(1, 4096));
  f.required("head_dim", c.head_dim, "Width of one head.", in_range(1, 4096));
  f.required("intermediate", c.intermediate, "Width of the gated MLP.", in_range(1, 1'000'000));
  f.required("vocabulary", c.vocabulary, "Entries of the vocabulary.", in_range(1, 10'000'000));
  f.optional("tied_embeddings", c.tied_embeddings, "Whether embedding and head share weights.");
  f.check(c.kv_heads == 0 || c.heads % c.kv_heads == 0, "kv_heads", "does not divide heads",
          "every KV head serves the same number of query heads");
}

void describe(Fields& f, DecodeConfig& c) {
  f.doc("One decode step of a batch of sequences of equal length.");
  f.required("batch", c.batch, "Sequences in the batch.", in_range(1, 1'000'000));
  f.required("context", c.context, "Positions in each KV cache, the newest included.",
             in_range(1, 100'000'000));
  f.optional("weight_type", c.weight_type, kDataTypeNames, "Element type of the weights.");
  f.optional("kv_type", c.kv_type, kDataTypeNames, "Element type of the KV cache.");
}

}  // namespace tiersim
