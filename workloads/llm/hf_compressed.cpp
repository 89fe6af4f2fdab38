#include "workloads/llm/hf_compressed.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "workloads/llm/hf_parts.hpp"

namespace tiersim {
namespace {

constexpr LayerType kSparseRows = LayerType::compressed_sparse_attention;
constexpr LayerType kHeavyRows = LayerType::heavily_compressed_attention;
constexpr const char* kCompressedYaml =
    "in YAML layer_types: [sliding_attention, compressed_sparse_attention, "
    "heavily_compressed_attention, ...] and compression: {sparse, heavy}";

// 0 is a window alone, 4 the layers with an indexer, 128 those that read every row. Entries beyond
// the layers are those of prediction modules.
void read_ratios(HfKeys& keys, LlmConfig& c) {
  const std::vector<std::int64_t> ratios = keys.wholes("compress_ratios");
  if (static_cast<std::int64_t>(ratios.size()) < c.layers)
    return keys.reject("compress_ratios",
                       fmt::format("has {} entries for {} layers", ratios.size(), c.layers),
                       kCompressedYaml);
  for (std::int64_t layer = 0; layer < c.layers; ++layer) {
    const std::int64_t ratio = ratios[static_cast<std::size_t>(layer)];
    if (ratio != 0 && ratio != 4 && ratio != 128)
      return keys.reject("compress_ratios",
                         fmt::format("has {}, whose kind of layer it does not say", ratio),
                         kCompressedYaml);
    c.layer_types.push_back(ratio == 0   ? LayerType::sliding_attention
                            : ratio == 4 ? kSparseRows
                                         : kHeavyRows);
    if (ratio == 4) c.compression->sparse = ratio;
    if (ratio == 128) c.compression->heavy = ratio;
  }
}

void read_named_types(HfKeys& keys, LlmConfig& c) {
  for (const std::string& name : keys.texts("layer_types")) {
    const auto at = std::ranges::find(kLayerTypeNames, name);
    const auto type = static_cast<LayerType>(at - kLayerTypeNames.begin());
    if (at == kLayerTypeNames.end() || (!compresses(type) && type != LayerType::sliding_attention))
      return keys.reject("layer_types", fmt::format("has {}, which is not modelled", name),
                         kCompressedYaml);
    c.layer_types.push_back(type);
  }
  if (static_cast<std::int64_t>(c.layer_types.size()) != c.layers)
    return keys.reject("layer_types",
                       fmt::format("has {} entries for {} layers", c.layer_types.size(), c.layers));
  const auto positions = [&](LayerType type, std::int64_t preset) {
    const bool has = std::ranges::count(c.layer_types, type) > 0;
    const auto name = std::string(kLayerTypeNames[static_cast<std::size_t>(type)]);
    return has ? keys.whole_below("compress_rates", name).value_or(preset) : 0;
  };
  c.compression->sparse = positions(kSparseRows, 4);
  c.compression->heavy = positions(kHeavyRows, 128);
  keys.ignore("compress_rates");
}

// The first so many layers choose experts by a table.
std::int64_t read_hash_layers(HfKeys& keys, const LlmConfig& c) {
  const std::vector<std::string> names = keys.texts("mlp_layer_types");
  if (names.empty()) return keys.whole_or_none("num_hash_layers").value_or(0);
  std::int64_t hashed = 0;
  for (std::size_t layer = 0; layer < names.size(); ++layer) {
    const bool first = names[layer] == "hash_moe" && static_cast<std::int64_t>(layer) == hashed;
    if (!first && names[layer] != "moe") {
      keys.reject("mlp_layer_types", fmt::format("has {} in layer {}", names[layer], layer),
                  "hash_moe in the first layers, then moe");
      break;
    }
    hashed += first ? 1 : 0;
  }
  if (static_cast<std::int64_t>(names.size()) != c.layers)
    keys.reject("mlp_layer_types",
                fmt::format("has {} entries for {} layers", names.size(), c.layers));
  return hashed;
}

}  // namespace

void read_deepseek_v4(HfKeys& keys, LlmConfig& c) {
  c.layers = keys.whole("num_hidden_layers");
  c.hidden = keys.whole("hidden_size");
  c.heads = keys.whole("num_attention_heads");
  c.kv_heads = keys.whole_or_none("num_key_value_heads").value_or(1);
  c.head_dim = keys.whole("head_dim");
  c.vocabulary = keys.whole("vocab_size");
  c.tied_embeddings = keys.flag("tie_word_embeddings", false);
  c.attention_sinks = true;
  c.attention_window = keys.whole("sliding_window");
  c.compression = CompressionConfig{};
  if (keys.has_key("compress_ratios")) {
    keys.ignore("layer_types");
    read_ratios(keys, c);
  } else if (keys.has_key("layer_types")) {
    read_named_types(keys, c);
  } else {
    keys.reject("compress_ratios", "is missing", "one number for each layer");
  }
  c.shared_kv = SharedKvConfig{.q_lora_rank = keys.whole("q_lora_rank"),
                               .rope_head_dim = keys.whole("qk_rope_head_dim"),
                               .output_groups = keys.whole("o_groups"),
                               .output_rank = keys.whole("o_lora_rank")};
  c.hyper = HyperConfig{.streams = keys.whole("hc_mult")};
  keys.ignore("hc_sinkhorn_iters");
  if (std::ranges::count(c.layer_types, kSparseRows) > 0)
    c.indexer = IndexerConfig{.kind = IndexerKind::csa,
                              .heads = keys.whole("index_n_heads"),
                              .head_dim = keys.whole("index_head_dim"),
                              .top_k = keys.whole("index_topk")};
  for (const char* key : {"index_n_heads", "index_head_dim", "index_topk"}) keys.ignore(key);
  const std::int64_t expert = keys.whole("moe_intermediate_size");
  c.intermediate = keys.whole_or_none("intermediate_size").value_or(expert);
  c.moe = MoeConfig{.experts = keys.whole("n_routed_experts"),
                    .experts_per_token = keys.whole("num_experts_per_tok"),
                    .shared_experts = keys.whole_or_none("n_shared_experts").value_or(0),
                    .expert_intermediate = expert,
                    .router_bias = true};
  if (const std::int64_t hashed = read_hash_layers(keys, c); hashed > 0)
    c.moe->hash_layers = hashed;
  for (const char* key : {"num_local_experts", "first_k_dense_replace"}) keys.ignore(key);
  refuse_biases(keys);
}

}  // namespace tiersim
