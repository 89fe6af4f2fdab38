#include "workloads/llm/llm_config_checks.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace tiersim {
namespace {

void check_linear(Fields& f, const LlmConfig& c) {
  const auto has = [&](LayerType type) { return std::ranges::count(c.layer_types, type) > 0; };
  f.check(c.linear || !has(LayerType::linear_attention), "linear",
          "is missing, and layer_types has linear_attention",
          "kind, heads and widths of its state");
  f.check(!c.linear || has(LayerType::linear_attention), "linear",
          "is of no layer: layer_types has no linear_attention", "leave it out");
  f.check(!c.encoder || (!c.linear && !has(LayerType::no_attention)), "encoder",
          "cannot stand beside layers of linear_attention or no_attention",
          "no such model is known");
  const bool experts = std::ranges::count(c.mlp_types, MlpType::experts) > 0;
  f.check(c.moe || !experts, "moe", "is missing, and mlp_types has experts", "the experts");
  f.check(!c.moe || c.mlp_types.empty() || experts, "moe",
          "is of no layer: mlp_types has no experts", "leave it out");
  f.check(!c.moe || c.mlp_types.empty() || (c.moe->dense_layers == 0 && c.moe->every == 1),
          "mlp_types", "cannot stand beside moe.dense_layers or moe.every",
          "mlp_types alone says which layers have experts");
  for (std::int64_t layer = 0; layer < c.layers && !c.mlp_types.empty(); ++layer)
    if (c.type_of(layer) == LayerType::no_attention && c.mlp_type(layer) == MlpType::none)
      return f.check(false, "mlp_types",
                     fmt::format("leaves layer {} with neither attention nor MLP", layer),
                     "dense or experts where layer_types has no_attention");
}

void check_indexer(Fields& f, const LlmConfig& c) {
  const auto find = [&](LayerType type) { return std::ranges::find(c.layer_types, type); };
  const auto end = c.layer_types.end();
  const auto indexed = find(LayerType::indexed_attention);
  const auto shared = find(LayerType::shared_index);
  f.check(shared == end || indexed < shared, "layer_types",
          "has shared_index before any indexed_attention",
          "the first layer with an indexer chooses for those after it");
  f.check(c.indexer || indexed == end, "indexer",
          "is missing, and layer_types has indexed_attention", "its heads and top_k");
  if (!c.indexer || c.compression) return;
  if (c.indexer->kind == IndexerKind::csa)
    return f.check(false, "indexer.kind", "is csa, and no row is compressed",
                   "compression, or another kind");
  f.check(c.layer_types.empty() || indexed != end, "indexer",
          "is of no layer: layer_types has no indexed_attention", "leave it out");
  f.check(!c.attention_window && !c.attention_chunk && !c.linear && !c.encoder, "indexer",
          "cannot stand beside attention_window, attention_chunk, linear, encoder",
          "no such model is known");
  if (c.indexer->kind == IndexerKind::dsa)
    return f.check(c.mla && c.mla->q_lora_rank > 0, "indexer", "needs mla with q_lora_rank",
                   "its queries are made from the latent of the queries; or kind: msa");
  f.check(!c.mla, "indexer", "of kind msa cannot stand beside mla",
          "its heads choose for groups of query heads; or kind: dsa");
  f.check(c.mla || c.indexer->heads == c.kv_heads, "indexer.heads", "is not kv_heads",
          "under msa each head chooses for the query heads of one KV head");
}

// Rows of several positions are those of one head, beside a window.
void check_compression(Fields& f, const LlmConfig& c) {
  const auto has = [&](LayerType type) { return std::ranges::count(c.layer_types, type) > 0; };
  constexpr LayerType kSparseLayer = LayerType::compressed_sparse_attention;
  constexpr LayerType kHeavy = LayerType::heavily_compressed_attention;
  if (!c.compression) {
    f.check(!c.shared_kv || has(kSparseLayer) || has(kHeavy), "shared_kv",
            "cannot stand without compression", "no such model is known");
    for (const LayerType type : {kSparseLayer, kHeavy})
      f.check(!has(type), "compression",
              fmt::format("is missing, and layer_types has {}",
                          kLayerTypeNames[static_cast<std::size_t>(type)]),
              "the positions of a row");
    return;
  }
  for (const auto& [key, type, positions] :
       {std::tuple("compression.sparse", kSparseLayer, c.compression->sparse),
        std::tuple("compression.heavy", kHeavy, c.compression->heavy)}) {
    const auto name = kLayerTypeNames[static_cast<std::size_t>(type)];
    f.check(positions > 0 || !has(type), key, fmt::format("is 0, and layer_types has {}", name),
            "the positions of a row");
    f.check(positions == 0 || has(type), key,
            fmt::format("is of no layer: layer_types has no {}", name), "leave it out");
  }
  for (const LayerType type : c.layer_types)
    f.check(compresses(type) || type == LayerType::sliding_attention, "layer_types",
            fmt::format("has {} beside compressed rows",
                        kLayerTypeNames[static_cast<std::size_t>(type)]),
            "sliding_attention, compressed_sparse_attention, heavily_compressed_attention");
  f.check(c.shared_kv.has_value(), "shared_kv", "is missing, and there is compression",
          "widths of the queries and of the output projection");
  f.check(c.attention_window || has(LayerType::sliding_attention), "attention_window",
          "is missing, and there is compression", "the positions of the window beside the rows");
  f.check(has(kSparseLayer) == c.indexer.has_value(), "indexer",
          has(kSparseLayer) ? "is missing, and layer_types has compressed_sparse_attention"
                            : "is of no layer: layer_types has no compressed_sparse_attention",
          has(kSparseLayer) ? "kind: csa, its heads and top_k" : "leave it out");
  f.check(!c.indexer || c.indexer->kind == IndexerKind::csa, "indexer.kind",
          "is not csa, and rows are compressed", "csa");
  f.check(!c.mla && !c.linear && !c.encoder && !c.attention_chunk && !c.qkv_bias && !c.qk_norm &&
              !c.output_bias && !c.attention_gate && c.relative_buckets == 0,
          "compression",
          "cannot stand beside mla, linear, encoder, attention_chunk, qkv_bias, output_bias, "
          "attention_gate, qk_norm, relative_buckets",
          "no such model is known");
  f.check(c.kv_heads == 1, "kv_heads", "is not 1", "all heads read one row");
  if (!c.shared_kv) return;
  f.check(c.heads % c.shared_kv->output_groups == 0, "shared_kv.output_groups",
          "does not divide heads", "groups are equal");
  f.check(c.shared_kv->rope_head_dim <= c.head_dim, "shared_kv.rope_head_dim", "is above head_dim",
          "a part of the row");
}

}  // namespace

void check_combinations(Fields& f, const LlmConfig& c) {
  f.check(c.kv_heads == 0 || c.heads % c.kv_heads == 0, "kv_heads", "does not divide heads",
          "every KV head serves the same number of query heads");
  const auto has = [&](LayerType type) { return std::ranges::count(c.layer_types, type) > 0; };
  const bool all = c.layer_types.empty();
  f.check(c.attention_window || !has(LayerType::sliding_attention), "attention_window",
          "is missing, and layer_types has sliding_attention", "the positions of the window");
  f.check(c.attention_chunk || !has(LayerType::chunked_attention), "attention_chunk",
          "is missing, and layer_types has chunked_attention", "the positions of a chunk");
  f.check(all || !c.attention_window || has(LayerType::sliding_attention) || c.compression,
          "attention_window", "is of no layer: layer_types has no sliding_attention",
          "leave it out");
  f.check(all || !c.attention_chunk || has(LayerType::chunked_attention), "attention_chunk",
          "is of no layer: layer_types has no chunked_attention", "leave it out");
  f.check(!all || !c.attention_window || !c.attention_chunk, "attention_chunk",
          "cannot stand beside attention_window without layer_types",
          "layer_types says which layers have which");
  for (const auto& [key, size] :
       {std::pair("layer_types", c.layer_types.size()), {"mlp_types", c.mlp_types.size()}})
    f.check(static_cast<std::int64_t>(size) <= c.layers, key, "is longer than the model",
            "one entry a layer, or fewer that repeat");
  check_linear(f, c);
  if (c.moe) {
    f.check(c.moe->dense_layers + c.moe->every <= c.layers, "moe.dense_layers",
            "leaves no layer with experts", "leave moe out for a model without experts");
    f.check(!c.encoder, "moe", "cannot stand beside encoder", "no such model is known");
    f.check(c.moe->hash_layers.value_or(0) <= c.layers, "moe.hash_layers", "is above layers",
            "the first layers with experts");
  }
  f.check(!c.hyper || (c.residual_block == 0 && !c.encoder), "hyper",
          "cannot stand beside residual_block, encoder", "no such model is known");
  check_compression(f, c);
  check_indexer(f, c);
  f.check(!c.q_lora_rank || (!c.mla && !c.shared_kv && !c.encoder && !c.attention_gate &&
                             !c.qkv_bias && !c.qk_norm && !c.indexer),
          "q_lora_rank",
          "cannot stand beside mla, shared_kv, encoder, attention_gate, qkv_bias, qk_norm, indexer",
          "no such model is known; the latent of mla is mla.q_lora_rank");
  if (!c.mla) return;
  f.check(c.kv_heads == c.heads, "kv_heads", "is not heads",
          "under mla every head unpacks keys of its own");
  f.check(c.heads % c.mla->latent_heads == 0, "mla.latent_heads", "does not divide heads",
          "every latent head serves the same number of query heads");
  f.check(c.head_dim == c.mla->qk_head_dim(), "head_dim",
          "is not mla.qk_nope_head_dim + mla.qk_rope_head_dim",
          "under mla it is the width of a head's key");
  f.check(!c.qkv_bias && !c.qk_norm && !c.attention_window && !c.attention_chunk &&
              c.relative_buckets == 0 && !c.encoder,
          "mla",
          "cannot stand beside qkv_bias, qk_norm, attention_window, attention_chunk, "
          "relative_buckets, encoder",
          "no such model is known");
}

}  // namespace tiersim
