#include "workloads/llm/hf_hybrid.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "workloads/llm/hf_parts.hpp"

namespace tiersim {
namespace {

constexpr LayerType kFull = LayerType::full_attention;
constexpr LayerType kLinear = LayerType::linear_attention;

// Every layer's type by `layer_types`, or full attention in one of each `full_attention_interval`.
void read_full_layers(HfKeys& keys, LlmConfig& c) {
  const std::int64_t interval = keys.whole_or_none("full_attention_interval").value_or(4);
  std::vector<LayerType> types;
  for (const std::string& name : keys.texts("layer_types")) {
    const bool full = name == "full_attention";
    if (!full && name != "linear_attention")
      return keys.reject("layer_types", fmt::format("has {}, which is not modelled", name),
                         "modelled: full_attention, linear_attention");
    types.push_back(full ? kFull : kLinear);
  }
  if (!types.empty() && static_cast<std::int64_t>(types.size()) != c.layers)
    return keys.reject("layer_types",
                       fmt::format("has {} entries for {} layers", types.size(), c.layers));
  if (types.empty()) {
    types.assign(static_cast<std::size_t>(std::max<std::int64_t>(interval - 1, 0)), kLinear);
    types.push_back(kFull);
  }
  c.layer_types = shortest_period(types);
}

// Layers that are named by their numbers, from 1.
void read_kimi_layers(HfKeys& keys, LlmConfig& c) {
  std::vector<LayerType> types(static_cast<std::size_t>(c.layers), kFull);
  for (const std::int64_t layer : keys.wholes_below("linear_attn_config", "kda_layers")) {
    if (layer < 1 || layer > c.layers)
      return keys.reject("linear_attn_config",
                         fmt::format("kda_layers has {}, and layers are 1 to {}", layer, c.layers));
    types[static_cast<std::size_t>(layer) - 1] = kLinear;
  }
  c.layer_types = shortest_period(types);
}

// One mixer a layer: a letter of `hybrid_override_pattern`, or a word of `layers_block_type`.
void read_mixers(HfKeys& keys, LlmConfig& c) {
  constexpr std::string_view kKnown = "M or mamba, * or attention, - or mlp, E or moe";
  std::vector<std::string> names = keys.texts("layers_block_type");
  const std::string pattern = keys.text("hybrid_override_pattern", "");
  if (names.empty())
    for (const char letter : pattern) names.emplace_back(1, letter);
  const std::string key = pattern.empty() ? "layers_block_type" : "hybrid_override_pattern";
  if (!keys.has_key("num_hidden_layers")) c.layers = static_cast<std::int64_t>(names.size());
  if (static_cast<std::int64_t>(names.size()) != c.layers)
    return keys.reject(key, fmt::format("has {} entries for {} layers", names.size(), c.layers),
                       std::string(kKnown));
  std::vector<LayerType> types;
  std::vector<MlpType> mlps;
  for (const std::string& name : names) {
    const bool mamba = name == "M" || name == "mamba";
    const bool attends = name == "*" || name == "attention";
    const bool experts = name == "E" || name == "moe";
    if (!mamba && !attends && !experts && name != "-" && name != "mlp")
      return keys.reject(key, fmt::format("has '{}', which is not modelled", name),
                         std::string(kKnown));
    types.push_back(mamba ? kLinear : attends ? kFull : LayerType::no_attention);
    mlps.push_back(mamba || attends ? MlpType::none : experts ? MlpType::experts : MlpType::dense);
  }
  c.layer_types = shortest_period(types);
  c.mlp_types = shortest_period(mlps);
}

// The keys of Mamba-2 under the names of two families.
struct MambaKeys {
  const char* groups;
  const char* heads;
  const char* state;
  const char* head_dim;
  const char* kernel;
  const char* bias;
  const char* chunk;
};
LinearConfig read_mamba(HfKeys& keys, const MambaKeys& names) {
  return {.kind = LinearKind::mamba2,
          .key_heads = keys.whole(names.groups),
          .value_heads = keys.whole(names.heads),
          .key_head_dim = keys.whole(names.state),
          .value_head_dim = keys.whole(names.head_dim),
          .conv_kernel = keys.whole(names.kernel),
          .conv_bias = keys.flag(names.bias, true),
          .chunk = keys.whole_or_none(names.chunk).value_or(256)};
}

}  // namespace

void read_qwen3_next(HfKeys& keys, LlmConfig& c) {
  c.layers = keys.whole("num_hidden_layers");
  c.hidden = keys.whole("hidden_size");
  c.heads = keys.whole("num_attention_heads");
  c.vocabulary = keys.whole("vocab_size");
  c.tied_embeddings = keys.flag("tie_word_embeddings", false);
  c.head_dim = keys.whole("head_dim");
  c.kv_heads = keys.whole("num_key_value_heads");
  c.qk_norm = true;
  c.attention_gate = keys.flag("attn_output_gate", true);
  refuse_biases(keys);
  read_full_layers(keys, c);
  c.linear = LinearConfig{.kind = LinearKind::gated_delta_net,
                          .key_heads = keys.whole("linear_num_key_heads"),
                          .value_heads = keys.whole("linear_num_value_heads"),
                          .key_head_dim = keys.whole("linear_key_head_dim"),
                          .value_head_dim = keys.whole("linear_value_head_dim"),
                          .conv_kernel = keys.whole("linear_conv_kernel_dim")};
  const auto experts = keys.whole_or_none("num_experts");
  const auto dense = keys.whole_or_none("intermediate_size");
  for (const char* key :
       {"decoder_sparse_step", "use_sliding_window", "sliding_window", "partial_rotary_factor"})
    keys.ignore(key);
  if (const auto modules = keys.whole_or_none("mtp_num_hidden_layers").value_or(0); modules > 0)
    c.mtp = MtpConfig{.modules = modules};
  if (!keys.wholes("mlp_only_layers").empty())
    keys.reject("mlp_only_layers", "is not empty, which is not modelled");
  if (!experts) {
    c.intermediate = dense ? *dense : keys.whole("intermediate_size");
    return;
  }
  c.moe = MoeConfig{.experts = *experts,
                    .experts_per_token = keys.whole("num_experts_per_tok"),
                    .shared_experts = 1,
                    .expert_intermediate = keys.whole("moe_intermediate_size"),
                    .shared_gate = true};
  const std::int64_t shared = keys.whole("shared_expert_intermediate_size");
  if (shared != c.moe->expert_intermediate) c.moe->shared_intermediate = shared;
  c.intermediate = dense.value_or(c.moe->expert_intermediate);  // of no layer
}

void read_kimi_linear(HfKeys& keys, LlmConfig& c) {
  read_stack(keys, c);
  read_latent_attention(keys, c);
  c.attention_gate = keys.flag("mla_use_output_gate", false);
  read_kimi_layers(keys, c);
  const std::string of = "linear_attn_config";
  for (const char* key : {"linear_attn_config", "num_expert_group"}) keys.ignore(key);
  const std::int64_t heads = keys.whole_below(of, "num_heads").value_or(0);
  const std::int64_t width = keys.whole_below(of, "head_dim").value_or(0);
  if (heads == 0 || width == 0)
    keys.reject(of, "has no num_heads or no head_dim", "those of Kimi Delta Attention");
  c.linear = LinearConfig{.kind = LinearKind::kimi_delta,
                          .key_heads = heads,
                          .value_heads = heads,
                          .key_head_dim = width,
                          .value_head_dim = width,
                          .conv_kernel = keys.whole_below(of, "short_conv_kernel_size").value_or(4),
                          .gate_rank = width,
                          .full_gate = keys.flag_below(of, "use_full_rank_gate")};
  c.residual_block = keys.whole_or_none("attn_res_block_size").value_or(0);
  const auto experts = keys.whole_or_none("num_experts");
  if (!experts) return;
  const auto per_token = keys.whole_or_none("num_experts_per_token");
  c.moe = MoeConfig{.experts = *experts,
                    .experts_per_token = per_token ? *per_token : keys.whole("num_experts_per_tok"),
                    .shared_experts = keys.whole_or_none("num_shared_experts").value_or(0),
                    .expert_intermediate = keys.whole("moe_intermediate_size"),
                    .latent = keys.whole_or_none("routed_expert_hidden_size"),
                    .latent_norm = keys.flag("latent_moe_use_norm", false),
                    .dense_layers = keys.whole_or_none("first_k_dense_replace").value_or(0),
                    .router_bias = true};
  if (keys.whole_or_none("moe_layer_freq").value_or(1) != 1)
    keys.reject("moe_layer_freq", "is not 1, which is not modelled");
}

void read_nemotron_h(HfKeys& keys, LlmConfig& c) {
  c.layers = keys.whole_or_none("num_hidden_layers").value_or(0);
  c.hidden = keys.whole("hidden_size");
  c.heads = keys.whole("num_attention_heads");
  c.vocabulary = keys.whole("vocab_size");
  c.tied_embeddings = keys.flag("tie_word_embeddings", false);
  const auto head_dim = keys.whole_or_none("attention_head_dim");
  c.head_dim = head_dim ? *head_dim : keys.whole("head_dim");
  keys.ignore("head_dim");
  c.kv_heads = keys.whole("num_key_value_heads");
  c.gated_mlp = false;
  refuse_biases(keys);
  keys.refuse("use_bias");
  keys.refuse("mamba_proj_bias");
  read_mixers(keys, c);
  const bool linear = std::ranges::find(c.layer_types, kLinear) != c.layer_types.end();
  for (const char* key :
       {"expand", "time_step_rank", "sliding_window", "mtp_hybrid_override_pattern",
        "mtp_layers_block_type", "num_logits_to_keep", "n_group", "topk_group"})
    keys.ignore(key);
  const LinearConfig mamba =
      read_mamba(keys, {"n_groups", "mamba_num_heads", "ssm_state_size", "mamba_head_dim",
                        "conv_kernel", "use_conv_bias", "chunk_size"});
  if (linear) c.linear = mamba;
  const auto experts = keys.whole_or_none("n_routed_experts");
  const auto dense = keys.whole_or_none("intermediate_size");
  if (!dense && std::ranges::find(c.mlp_types, MlpType::dense) != c.mlp_types.end())
    keys.reject("intermediate_size", "is missing, and some layers are an MLP");
  c.intermediate = dense.value_or(1);
  for (const char* key : {"num_experts_per_tok", "n_shared_experts", "moe_intermediate_size",
                          "moe_shared_expert_intermediate_size", "moe_latent_size"})
    if (!experts) keys.ignore(key);
  if (!experts || std::ranges::find(c.mlp_types, MlpType::experts) == c.mlp_types.end()) return;
  c.moe = MoeConfig{.experts = *experts,
                    .experts_per_token = keys.whole("num_experts_per_tok"),
                    .shared_experts = keys.whole_or_none("n_shared_experts").value_or(0),
                    .expert_intermediate = keys.whole("moe_intermediate_size"),
                    .latent = keys.whole_or_none("moe_latent_size"),
                    .router_bias = true};
  if (c.moe->shared_experts > 0)
    c.moe->shared_intermediate = keys.whole_or_none("moe_shared_expert_intermediate_size");
}

void read_granite_hybrid(HfKeys& keys, LlmConfig& c) {
  read_stack(keys, c);
  read_heads(keys, c);
  c.kv_heads = keys.whole("num_key_value_heads");
  c.tied_embeddings = keys.flag("tie_word_embeddings", true);
  refuse_biases(keys);
  keys.refuse("mamba_proj_bias");
  std::vector<LayerType> types;
  for (const std::string& name : keys.texts("layer_types")) {
    if (name != "mamba" && name != "attention")
      return keys.reject("layer_types", fmt::format("has {}, which is not modelled", name),
                         "modelled: mamba, attention");
    types.push_back(name == "mamba" ? kLinear : kFull);
  }
  if (static_cast<std::int64_t>(types.size()) != c.layers)
    return keys.reject("layer_types",
                       fmt::format("has {} entries for {} layers", types.size(), c.layers));
  c.layer_types = shortest_period(types);
  c.linear = read_mamba(keys, {"mamba_n_groups", "mamba_n_heads", "mamba_d_state", "mamba_d_head",
                               "mamba_d_conv", "mamba_conv_bias", "mamba_chunk_size"});
  keys.ignore("mamba_expand");
  const std::int64_t shared = keys.whole("shared_intermediate_size");
  const std::int64_t experts = keys.whole_or_none("num_local_experts").value_or(0);
  if (experts == 0) {  // the shared MLP alone
    keys.ignore("num_experts_per_tok");
    c.intermediate = shared;
    return;
  }
  c.moe = MoeConfig{.experts = experts,
                    .experts_per_token = keys.whole("num_experts_per_tok"),
                    .shared_experts = 1,
                    .expert_intermediate = c.intermediate,
                    .shared_intermediate = shared};
}

}  // namespace tiersim
