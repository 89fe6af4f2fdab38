#include "workloads/llm/hf_indexed.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "workloads/llm/hf_parts.hpp"

namespace tiersim {
namespace {

constexpr LayerType kIndexed = LayerType::indexed_attention;
constexpr LayerType kShared = LayerType::shared_index;
constexpr const char* kSparse = "sparse_attention_config";

// An empty list stands for layers that all have an indexer.
void set_types(LlmConfig& c, const std::vector<LayerType>& types) {
  const bool all = std::ranges::count(types, kIndexed) == std::ssize(types);
  c.layer_types = all ? std::vector<LayerType>{} : shortest_period(types);
}

// True where a list has an entry for each layer.
bool is_whole(HfKeys& keys, const LlmConfig& c, const char* key, std::size_t entries) {
  if (static_cast<std::int64_t>(entries) == c.layers) return true;
  keys.reject(key, fmt::format("has {} entries for {} layers", entries, c.layers));
  return false;
}

// By name, or one of each `index_topk_freq` layers after the first `index_skip_topk_offset`.
void read_sharing(HfKeys& keys, LlmConfig& c) {
  const std::int64_t every = keys.whole_or_none("index_topk_freq").value_or(1);
  const std::int64_t first = keys.whole_or_none("index_skip_topk_offset").value_or(0);
  const std::string pattern = keys.text("index_topk_pattern", "");
  keys.ignore("index_share_for_mtp_iteration");  // of the passes of a draft
  const std::vector<std::string> names = keys.texts("indexer_types");
  std::vector<LayerType> types;
  for (const std::string& name : names) {
    if (name != "full" && name != "shared")
      return keys.reject("indexer_types", fmt::format("has {}, which is not modelled", name),
                         "modelled: full, shared; in YAML layer_types: [indexed_attention, "
                         "shared_index, ...]");
    types.push_back(name == "full" ? kIndexed : kShared);
  }
  if (!names.empty()) {
    if (is_whole(keys, c, "indexer_types", names.size())) set_types(c, types);
    return;
  }
  if (!pattern.empty())
    return keys.reject("index_topk_pattern", "is not read without indexer_types",
                       "in YAML layer_types: [indexed_attention, shared_index, ...]");
  for (std::int64_t layer = 0; every > 1 && layer < c.layers; ++layer)
    types.push_back(std::max<std::int64_t>(layer - first + 1, 0) % every == 0 ? kIndexed : kShared);
  set_types(c, types);
}

// Layers with experts are those after the first dense ones.
void check_mlp_types(HfKeys& keys, const LlmConfig& c) {
  const std::vector<std::string> names = keys.texts("mlp_layer_types");
  if (names.empty() || !is_whole(keys, c, "mlp_layer_types", names.size())) return;
  for (std::int64_t layer = 0; layer < c.layers; ++layer)
    if (names[static_cast<std::size_t>(layer)] != (c.is_moe_layer(layer) ? "sparse" : "dense"))
      return keys.reject("mlp_layer_types",
                         fmt::format("is not 'dense' for {} layers, then 'sparse'",
                                     c.moe ? c.moe->dense_layers : c.layers),
                         "first_k_dense_replace says how many; in YAML mlp_types");
}

// A list of 0 and 1, one for each layer. Empty after a problem.
std::vector<std::int64_t> flags_of(HfKeys& keys, const LlmConfig& c, const char* key) {
  std::vector<std::int64_t> flags = keys.wholes(key);
  if (flags.empty())
    keys.reject(key, "is missing", "0 or 1 for each layer");
  else if (!is_whole(keys, c, key, flags.size()))
    flags.clear();
  return flags;
}

std::int64_t whole_of_sparse(HfKeys& keys, const std::string& inner) {
  const auto found = keys.whole_below(kSparse, inner);
  if (!found)
    keys.reject(kSparse, fmt::format("has no {}", inner),
                "in YAML indexer: {kind: msa, heads, head_dim, top_k, block}");
  return found.value_or(0);
}

void read_block_indexer(HfKeys& keys, LlmConfig& c) {
  keys.ignore(kSparse);
  if (!keys.flag_below(kSparse, "use_sparse_attention"))
    keys.reject(kSparse, "has no use_sparse_attention: true, and full attention is not read",
                "in YAML no indexer and no layer_types");
  const std::int64_t block = whole_of_sparse(keys, "sparse_block_size");
  c.indexer = IndexerConfig{.kind = IndexerKind::msa,
                            .heads = whole_of_sparse(keys, "sparse_num_index_heads"),
                            .head_dim = whole_of_sparse(keys, "sparse_index_dim"),
                            .top_k = whole_of_sparse(keys, "sparse_topk_blocks") * block,
                            .block = block};
  std::vector<LayerType> types;
  for (const std::int64_t flag : keys.wholes_below(kSparse, "sparse_attention_freq"))
    types.push_back(flag != 0 ? kIndexed : LayerType::full_attention);
  if (std::ssize(types) != c.layers)
    return keys.reject(
        kSparse,
        fmt::format("has {} entries of sparse_attention_freq for {} layers", types.size(),
                    c.layers),
        "0 or 1 for each layer; in YAML layer_types: [full_attention, indexed_attention, ...]");
  const auto values = keys.wholes_below(kSparse, "sparse_disable_index_value");
  for (std::size_t layer = 0; layer < values.size() && layer < types.size(); ++layer)
    if (types[layer] == kIndexed && values[layer] == 0)
      return keys.reject(kSparse, fmt::format("has values of the indexer in layer {} "
                                              "(sparse_disable_index_value), which is not modelled",
                                              layer));
  set_types(c, types);
}

}  // namespace

void read_deepseek_v32(HfKeys& keys, LlmConfig& c) {
  read_deepseek(keys, c, "noaux_tc");
  c.indexer = IndexerConfig{.heads = keys.whole("index_n_heads"),
                            .head_dim = keys.whole("index_head_dim"),
                            .top_k = keys.whole("index_topk")};
  keys.ignore("qk_head_dim");  // the sum of its parts
}

void read_glm_moe_dsa(HfKeys& keys, LlmConfig& c) {
  read_deepseek_v32(keys, c);
  read_sharing(keys, c);
  check_mlp_types(keys, c);
  for (const std::string& name : keys.texts("layer_types"))
    if (name != "deepseek_sparse_attention")
      return keys.reject("layer_types", fmt::format("has {}, which is not modelled", name),
                         "modelled: deepseek_sparse_attention; in YAML layer_types: "
                         "[indexed_attention, full_attention, ...]");
  keys.ignore("num_experts");  // another name of n_routed_experts
}

void read_minimax_m3(HfKeys& keys, LlmConfig& c) {
  c.layers = keys.whole("num_hidden_layers");
  c.hidden = keys.whole("hidden_size");
  c.heads = keys.whole("num_attention_heads");
  c.kv_heads = keys.whole("num_key_value_heads");
  c.vocabulary = keys.whole("vocab_size");
  c.tied_embeddings = keys.flag("tie_word_embeddings", false);
  read_heads(keys, c);
  c.intermediate = keys.whole("dense_intermediate_size");
  c.qk_norm = keys.flag("use_qk_norm", true);
  if (keys.text("qk_norm_type", "per_head") != "per_head") c.qk_norm_over = QkNormWidth::all_heads;
  keys.refuse("attention_output_gate");
  refuse_biases(keys);
  read_block_indexer(keys, c);
  const std::int64_t expert = keys.whole("intermediate_size");
  c.moe = MoeConfig{.experts = read_experts(keys),
                    .experts_per_token = keys.whole("num_experts_per_tok"),
                    .shared_experts = keys.whole_or_none("n_shared_experts").value_or(0),
                    .expert_intermediate = expert,
                    .router_bias = keys.flag("use_routing_bias", false)};
  const std::int64_t shared = keys.whole_or_none("shared_intermediate_size").value_or(expert);
  if (shared != expert) c.moe->shared_intermediate = shared;
  const auto moe = flags_of(keys, c, "moe_layer_freq");
  for (std::size_t layer = 0; layer < moe.size(); ++layer) {
    const bool dense = static_cast<std::int64_t>(layer) == c.moe->dense_layers && moe[layer] == 0;
    c.moe->dense_layers += dense ? 1 : 0;
    if (!dense && moe[layer] == 0) {
      keys.reject("moe_layer_freq", "has 0 after 1, which is not modelled", "in YAML mlp_types");
      break;
    }
  }
  // Modules that the published weights do not have, and other names of sizes above.
  for (const char* key :
       {"use_gemma_norm", "rotary_dim", "num_mtp_modules", "mtp_transformer_layers",
        "moe_intermediate_size", "first_k_dense_replace"})
    keys.ignore(key);
}

}  // namespace tiersim
