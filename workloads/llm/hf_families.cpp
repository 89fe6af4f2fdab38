#include "workloads/llm/hf_families.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "workloads/llm/hf_compressed.hpp"
#include "workloads/llm/hf_hybrid.hpp"
#include "workloads/llm/hf_indexed.hpp"
#include "workloads/llm/hf_keys.hpp"
#include "workloads/llm/hf_parts.hpp"
#include "workloads/llm/llm_config.hpp"

namespace tiersim {
namespace {

// Reads a window that holds for all layers.
void read_window(HfKeys& keys, LlmConfig& c) {
  c.attention_window = keys.whole_or_none("sliding_window");
}

// Refuses a window that a flag enables, and then for some layers only.
void refuse_window(HfKeys& keys) {
  keys.refuse("use_sliding_window");
  keys.ignore("sliding_window");
}

void read_llama(HfKeys& keys, LlmConfig& c) {
  read_stack(keys, c);
  read_heads(keys, c);
  c.kv_heads = keys.whole_or_none("num_key_value_heads").value_or(c.heads);
  refuse_biases(keys);
}

void read_mistral(HfKeys& keys, LlmConfig& c) {
  read_stack(keys, c);
  read_heads(keys, c);
  c.kv_heads = keys.whole("num_key_value_heads");
  if (!keys.has_key("sliding_window"))
    keys.reject("sliding_window", "is missing", std::string(kNullHint));
  read_window(keys, c);
  refuse_biases(keys);
}

void read_mixtral(HfKeys& keys, LlmConfig& c) {
  read_stack(keys, c);
  read_heads(keys, c);
  c.kv_heads = keys.whole("num_key_value_heads");
  read_window(keys, c);
  refuse_biases(keys);
  c.moe = MoeConfig{.experts = read_experts(keys),
                    .experts_per_token = keys.whole("num_experts_per_tok"),
                    .expert_intermediate = c.intermediate};
}

void read_qwen2(HfKeys& keys, LlmConfig& c) {
  read_stack(keys, c);
  read_heads(keys, c);
  c.kv_heads = keys.whole("num_key_value_heads");
  c.qkv_bias = true;
  refuse_window(keys);
  refuse_biases(keys);
}

void read_qwen3(HfKeys& keys, LlmConfig& c) {
  read_stack(keys, c);
  c.head_dim = keys.whole("head_dim");  // independent of the other keys in this family
  c.kv_heads = keys.whole("num_key_value_heads");
  c.qk_norm = true;
  refuse_window(keys);
  refuse_biases(keys);
}

void read_qwen3_moe(HfKeys& keys, LlmConfig& c) {
  read_qwen3(keys, c);
  c.moe = MoeConfig{.experts = read_experts(keys),
                    .experts_per_token = keys.whole("num_experts_per_tok"),
                    .expert_intermediate = keys.whole("moe_intermediate_size")};
  if (keys.whole_or_none("decoder_sparse_step").value_or(1) != 1)
    keys.reject("decoder_sparse_step", "is not 1, which is not modelled");
  for (const std::int64_t layer : keys.wholes("mlp_only_layers"))
    if (layer != c.moe->dense_layers++)
      keys.reject("mlp_only_layers", "is not 0, 1, 2, ..., which is not modelled");
}

void read_deepseek_v2(HfKeys& keys, LlmConfig& c) {
  read_deepseek(keys, c, "greedy");
}

void read_deepseek_v3(HfKeys& keys, LlmConfig& c) {
  read_deepseek(keys, c, "noaux_tc");
}

void read_t5(HfKeys& keys, LlmConfig& c) {
  c.encoder = EncoderConfig{.layers = keys.whole("num_layers")};
  c.layers = keys.whole_or_none("num_decoder_layers").value_or(c.encoder->layers);
  c.hidden = keys.whole("d_model");
  c.heads = keys.whole("num_heads");
  c.kv_heads = c.heads;
  c.head_dim = keys.whole("d_kv");
  c.intermediate = keys.whole("d_ff");
  c.vocabulary = keys.whole("vocab_size");
  c.tied_embeddings = keys.flag("tie_word_embeddings", true);
  c.gated_mlp = keys.text("feed_forward_proj", "relu").starts_with("gated-");
  c.relative_buckets = keys.whole("relative_attention_num_buckets");
}

// `layer_types`, or windows in all but the last of every `pattern` layers.
void read_layer_types(HfKeys& keys, LlmConfig& c, std::int64_t pattern) {
  c.attention_window = keys.whole_or_none("sliding_window");
  std::vector<LayerType> types;
  const std::vector<std::string> names = keys.texts("layer_types");
  const std::span known = std::span(kLayerTypeNames).first(kPlainTypes);
  for (const std::string& name : names) {
    const auto at = std::ranges::find(known, name);
    if (at == known.end()) {
      keys.reject("layer_types", fmt::format("has {}, which is not modelled", name),
                  "modelled: " + join(std::vector<std::string>(known.begin(), known.end())));
      return;
    }
    types.push_back(static_cast<LayerType>(at - known.begin()));
  }
  if (!names.empty() && static_cast<std::int64_t>(names.size()) != c.layers)
    keys.reject("layer_types", fmt::format("has {} entries for {} layers", names.size(), c.layers));
  const std::int64_t every = keys.whole_or_none("sliding_window_pattern").value_or(pattern);
  if (names.empty())
    for (std::int64_t layer = 0; layer < every; ++layer)
      types.push_back(layer + 1 < every ? LayerType::sliding_attention : LayerType::full_attention);
  c.layer_types = shortest_period(types);
  if (std::ranges::find(types, LayerType::sliding_attention) == types.end())
    c.attention_window.reset();
  else if (!c.attention_window)
    keys.reject("sliding_window", "is missing, and some layers have a window");
}

void read_gpt_oss(HfKeys& keys, LlmConfig& c) {
  read_stack(keys, c);
  read_heads(keys, c);
  c.kv_heads = keys.whole("num_key_value_heads");
  read_layer_types(keys, c, 2);
  c.qkv_bias = c.output_bias = keys.flag("attention_bias", true);
  c.attention_sinks = true;
  keys.ignore("experts_per_token");  // another name of num_experts_per_tok
  c.moe = MoeConfig{.experts = read_experts(keys),
                    .experts_per_token = keys.whole("num_experts_per_tok"),
                    .expert_intermediate = c.intermediate,
                    .router_bias = true,
                    .expert_bias = true};
}

void read_gemma3(HfKeys& keys, LlmConfig& c) {
  read_stack(keys, c);
  c.tied_embeddings = keys.flag("tie_word_embeddings", true);
  c.head_dim = keys.whole("head_dim");
  c.kv_heads = keys.whole("num_key_value_heads");
  c.qk_norm = true;
  c.layer_norms = 4;
  read_layer_types(keys, c, 6);
  refuse_biases(keys);
}

void read_olmo3(HfKeys& keys, LlmConfig& c) {
  read_stack(keys, c);
  read_heads(keys, c);
  c.kv_heads = keys.whole_or_none("num_key_value_heads").value_or(c.heads);
  c.qk_norm = true;
  c.qk_norm_over = QkNormWidth::all_heads;
  read_layer_types(keys, c, 4);
  refuse_biases(keys);
}

void read_cohere2(HfKeys& keys, LlmConfig& c) {
  read_stack(keys, c);
  c.tied_embeddings = keys.flag("tie_word_embeddings", true);
  read_heads(keys, c);
  c.kv_heads = keys.whole_or_none("num_key_value_heads").value_or(c.heads);
  c.layer_norms = 1;
  read_layer_types(keys, c, 4);
  keys.refuse("use_qk_norm");
  refuse_biases(keys);
}

// A layer with rotary embedding attends within its chunk, one without to everything.
void read_llama4(HfKeys& keys, LlmConfig& c) {
  read_stack(keys, c);
  read_heads(keys, c);
  c.kv_heads = keys.whole("num_key_value_heads");
  c.attention_chunk = keys.whole("attention_chunk_size");
  std::vector<LayerType> types;
  for (const std::int64_t rotary : keys.wholes("no_rope_layers"))
    types.push_back(rotary != 0 ? LayerType::chunked_attention : LayerType::full_attention);
  if (types.empty()) {
    types.assign(3, LayerType::chunked_attention);
    types.push_back(LayerType::full_attention);
  }
  c.layer_types = shortest_period(types);
  for (const char* key : {"no_rope_layer_interval", "moe_layers", "use_qk_norm", "layer_types"})
    keys.ignore(key);  // the norm of queries and keys has no weights
  const std::int64_t expert = c.intermediate;
  c.intermediate = keys.whole("intermediate_size_mlp");
  c.moe = MoeConfig{.experts = read_experts(keys),
                    .experts_per_token = keys.whole("num_experts_per_tok"),
                    .shared_experts = 1,
                    .expert_intermediate = expert,
                    .every = keys.whole_or_none("interleave_moe_layer_step").value_or(1)};
  refuse_biases(keys);
}

void read_glm4_moe(HfKeys& keys, LlmConfig& c) {
  read_stack(keys, c);
  c.head_dim = keys.whole("head_dim");
  c.kv_heads = keys.whole("num_key_value_heads");
  c.qkv_bias = keys.flag("attention_bias", false);
  c.qk_norm = keys.flag("use_qk_norm", false);
  keys.refuse("mlp_bias");
  c.moe = MoeConfig{.experts = keys.whole("n_routed_experts"),
                    .experts_per_token = keys.whole("num_experts_per_tok"),
                    .shared_experts = keys.whole_or_none("n_shared_experts").value_or(0),
                    .expert_intermediate = keys.whole("moe_intermediate_size"),
                    .dense_layers = keys.whole_or_none("first_k_dense_replace").value_or(0),
                    .router_bias = true};
}

void read_minimax_m2(HfKeys& keys, LlmConfig& c) {
  read_stack(keys, c);
  read_heads(keys, c);
  c.kv_heads = keys.whole("num_key_value_heads");
  c.qk_norm = keys.flag("use_qk_norm", false);
  if (keys.text("qk_norm_type", "per_layer") == "per_layer")
    c.qk_norm_over = QkNormWidth::all_heads;
  if (keys.whole_or_none("shared_intermediate_size").value_or(0) != 0)
    keys.reject("shared_intermediate_size", "is not 0, which is not modelled");
  for (const char* key : {"rotary_dim", "num_mtp_modules", "mtp_transformer_layers"})
    keys.ignore(key);
  c.moe = MoeConfig{.experts = read_experts(keys),
                    .experts_per_token = keys.whole("num_experts_per_tok"),
                    .expert_intermediate = c.intermediate,
                    .router_bias = keys.flag("use_routing_bias", false)};
  refuse_biases(keys);
}

// The layers with experts are a list, or a text with commas.
void read_step3(HfKeys& keys, LlmConfig& c) {
  read_stack(keys, c);
  read_heads(keys, c);
  c.kv_heads = keys.whole("num_attention_groups");
  c.q_lora_rank = keys.whole("share_q_dim");
  c.moe = MoeConfig{.experts = keys.whole("moe_num_experts"),
                    .experts_per_token = keys.whole("moe_top_k"),
                    .shared_experts = 1,
                    .expert_intermediate = keys.whole("moe_intermediate_size")};
  if (const std::int64_t shared = keys.whole("share_expert_dim");
      shared != c.moe->expert_intermediate)
    c.moe->shared_intermediate = shared;
  for (const char* key : {"max_seq_len", "max_position_embedding"}) keys.ignore(key);
  c.mlp_types.assign(static_cast<std::size_t>(std::max<std::int64_t>(c.layers, 0)), MlpType::dense);
  for (const std::int64_t layer : keys.wholes("moe_layers_enum")) {
    if (layer < 0 || layer >= c.layers)
      return keys.reject("moe_layers_enum",
                         fmt::format("has layer {} of a model with {}", layer, c.layers));
    c.mlp_types[static_cast<std::size_t>(layer)] = MlpType::experts;
  }
  refuse_biases(keys);
}

// The file stores queries, keys and values, and gate and up, as one matrix each.
void read_phi3(HfKeys& keys, LlmConfig& c) {
  read_llama(keys, c);
  c.attention_window = keys.whole_or_none("sliding_window");
}

constexpr auto kFamilies = std::to_array<HfFamily>({{"cohere2", read_cohere2},
                                                    {"deepseek_v2", read_deepseek_v2},
                                                    {"deepseek_v3", read_deepseek_v3},
                                                    {"deepseek_v32", read_deepseek_v32},
                                                    {"deepseek_v4", read_deepseek_v4},
                                                    {"gemma3_text", read_gemma3},
                                                    {"glm4_moe", read_glm4_moe},
                                                    {"glm_moe_dsa", read_glm_moe_dsa},
                                                    {"gpt_oss", read_gpt_oss},
                                                    {"granitemoehybrid", read_granite_hybrid},
                                                    {"kimi_k2", read_deepseek_v3},
                                                    {"kimi_linear", read_kimi_linear},
                                                    {"llama", read_llama},
                                                    {"llama4_text", read_llama4},
                                                    {"minimax_m2", read_minimax_m2},
                                                    {"minimax_m3", read_minimax_m3},
                                                    {"minimax_m3_vl", read_minimax_m3},
                                                    {"minimax_m3_vl_text", read_minimax_m3},
                                                    {"mistral", read_mistral},
                                                    {"mixtral", read_mixtral},
                                                    {"nemotron_h", read_nemotron_h},
                                                    {"olmo3", read_olmo3},
                                                    {"phi3", read_phi3},
                                                    {"qwen2", read_qwen2},
                                                    {"qwen3", read_qwen3},
                                                    {"qwen3_5_moe_text", read_qwen3_next},
                                                    {"qwen3_5_text", read_qwen3_next},
                                                    {"qwen3_moe", read_qwen3_moe},
                                                    {"qwen3_next", read_qwen3_next},
                                                    {"step3_text", read_step3},
                                                    {"step3_vl", read_step3},
                                                    {"t5", read_t5}});

}  // namespace

std::span<const HfFamily> hf_families() {
  return kFamilies;
}

}  // namespace tiersim
