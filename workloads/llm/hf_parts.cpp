#include "workloads/llm/hf_parts.hpp"

namespace tiersim {

void read_stack(HfKeys& keys, LlmConfig& c) {
  c.layers = keys.whole("num_hidden_layers");
  c.hidden = keys.whole("hidden_size");
  c.heads = keys.whole("num_attention_heads");
  c.intermediate = keys.whole("intermediate_size");
  c.vocabulary = keys.whole("vocab_size");
  c.tied_embeddings = keys.flag("tie_word_embeddings", false);
}

void read_heads(HfKeys& keys, LlmConfig& c) {
  if (const auto head_dim = keys.whole_or_none("head_dim")) {
    c.head_dim = *head_dim;
  } else if (c.heads > 0 && c.hidden % c.heads == 0) {
    c.head_dim = c.hidden / c.heads;
  } else if (c.heads > 0) {
    keys.reject("head_dim", "is missing, and num_attention_heads does not divide hidden_size");
  }
}

void refuse_biases(HfKeys& keys) {
  keys.refuse("attention_bias");
  keys.refuse("mlp_bias");
}

std::int64_t read_experts(HfKeys& keys) {
  const auto local = keys.whole_or_none("num_local_experts");
  return local ? *local : keys.whole("num_experts");
}

void read_latent_attention(HfKeys& keys, LlmConfig& c) {
  c.mla = MlaConfig{.q_lora_rank = keys.whole_or_none("q_lora_rank").value_or(0),
                    .kv_lora_rank = keys.whole("kv_lora_rank"),
                    .qk_nope_head_dim = keys.whole("qk_nope_head_dim"),
                    .qk_rope_head_dim = keys.whole("qk_rope_head_dim"),
                    .v_head_dim = keys.whole("v_head_dim")};
  if (!keys.has_key("q_lora_rank"))
    keys.reject("q_lora_rank", "is missing", std::string(kNullHint));
  c.kv_heads = keys.whole_or_none("num_key_value_heads").value_or(c.heads);
  c.head_dim = c.mla->qk_head_dim();
  keys.ignore("head_dim");  // if present, that of the rotary part
  refuse_biases(keys);
}

void read_deepseek(HfKeys& keys, LlmConfig& c, const std::string& method) {
  read_stack(keys, c);
  read_latent_attention(keys, c);
  if (!keys.has_key("n_routed_experts"))
    keys.reject("n_routed_experts", "is missing", std::string(kNullHint));
  const auto experts = keys.whole_or_none("n_routed_experts");
  if (!experts) {
    for (const char* key : {"num_experts_per_tok", "n_shared_experts", "moe_intermediate_size",
                            "first_k_dense_replace", "moe_layer_freq"})
      keys.ignore(key);
    return;
  }
  c.moe = MoeConfig{.experts = *experts,
                    .experts_per_token = keys.whole("num_experts_per_tok"),
                    .shared_experts = keys.whole_or_none("n_shared_experts").value_or(0),
                    .expert_intermediate = keys.whole("moe_intermediate_size"),
                    .dense_layers = keys.whole("first_k_dense_replace"),
                    .router_bias = keys.text("topk_method", method) == "noaux_tc"};
  if (keys.whole_or_none("moe_layer_freq").value_or(1) != 1)
    keys.reject("moe_layer_freq", "is not 1, which is not modelled");
}

}  // namespace tiersim
