#pragma once
// A transformer by its published dimensions, with derived numbers: weights of each part, matrix
// products of a layer, widths of a cached row. Decoder-only (Llama, Mistral, Qwen), with latent
// attention (DeepSeek, Kimi), with linear attention in some layers (Qwen3-Next, Nemotron-H), with
// experts (Mixtral, DeepSeek, Kimi), or with an encoder (T5). All counts are elements or weights,
// never bytes.
//
// Layers may attend in different ways (layer_types). The layers of one type are a model by
// themselves, which layers_of() gives, so that whoever counts or runs one layer knows one type
// only.
//
// Not counted: scales of a quantised checkpoint, buffers that are not weights (rotary frequencies),
// and what stands in LlmConfig::left_out: vision towers, multi-token-prediction modules.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/fields.hpp"
#include "workloads/llm/compression_config.hpp"
#include "workloads/llm/hyper_config.hpp"
#include "workloads/llm/indexer_config.hpp"
#include "workloads/llm/linear_config.hpp"
#include "workloads/llm/mla_config.hpp"
#include "workloads/llm/moe_config.hpp"
#include "workloads/llm/mtp_config.hpp"
#include "workloads/llm/product.hpp"
#include "workloads/llm/published_weights.hpp"
#include "workloads/llm/shared_kv_config.hpp"

namespace tiersim {

/// A bidirectional encoder before the decoder, of the decoder's widths; every decoder layer then
/// has a cross attention after its self attention.
struct EncoderConfig {
  std::int64_t layers = 0;

  friend bool operator==(const EncoderConfig&, const EncoderConfig&) = default;
};
void describe(Fields& f, EncoderConfig& c);

/// Positions that a layer's attention reaches, by the names of the Hugging Face configurations.
enum class LayerType : std::uint8_t {
  full_attention,
  sliding_attention,  ///< the last LlmConfig::attention_window positions
  chunked_attention,  ///< those from the last multiple of LlmConfig::attention_chunk on
  indexed_attention,  ///< those that its own indexer chooses (IndexerConfig)
  shared_index,       ///< those that the last layer of indexed_attention before it chose (GLM-5.2)
  /// The last LlmConfig::attention_window positions, and compressed rows (CompressionConfig) that
  /// an indexer chooses.
  compressed_sparse_attention,
  heavily_compressed_attention,  ///< the same, and every compressed row
  linear_attention,              ///< none: a state stands for all positions (LinearConfig)
  no_attention,                  ///< the layer is an MLP alone (Nemotron-H)
};
inline constexpr std::array<std::string_view, 9> kLayerTypeNames{"full_attention",
                                                                 "sliding_attention",
                                                                 "chunked_attention",
                                                                 "indexed_attention",
                                                                 "shared_index",
                                                                 "compressed_sparse_attention",
                                                                 "heavily_compressed_attention",
                                                                 "linear_attention",
                                                                 "no_attention"};
/// The first so many types are of layers whose cache has keys and values of positions; the first so
/// many of those need no indexer.
inline constexpr std::size_t kPositionTypes = 7;
inline constexpr std::size_t kPlainTypes = 3;
constexpr bool caches_positions(LayerType type) {
  return static_cast<std::size_t>(type) < kPositionTypes;
}
constexpr bool compresses(LayerType type) {
  return type == LayerType::compressed_sparse_attention ||
         type == LayerType::heavily_compressed_attention;
}

/// What follows a layer's attention.
enum class MlpType : std::uint8_t { dense, experts, none };
inline constexpr std::array<std::string_view, 3> kMlpTypeNames{"dense", "experts", "none"};

/// What a norm of queries and keys has one weight for each element of: of a head, whose weights all
/// heads share, or of all heads together (OLMo 3, MiniMax-M2).
enum class QkNormWidth : std::uint8_t { head, all_heads };
inline constexpr std::array<std::string_view, 2> kQkNormWidthNames{"head", "all_heads"};

/// Pipeline stage of a part: the first stage has the embedding, the last the head.
enum class PipelineStage : std::uint8_t { whole, first, last };

/// Result of shard_of() for one GPU's part of a model, beyond smaller dimensions.
struct ModelPart {
  PipelineStage stage = PipelineStage::whole;
  std::int64_t first_layer = 0;          ///< index of its first layer in the whole model
  std::int64_t output_heads = 0;         ///< heads whose outputs enter its output projection
  std::int64_t held_experts = 0;         ///< experts of a layer on this GPU
  std::int64_t shared_intermediate = 0;  ///< width of its part of one shared expert
  std::int64_t vocabulary = 0;           ///< of the whole model

  friend bool operator==(const ModelPart&, const ModelPart&) = default;
};

/// Place where keys and values are unpacked from the latent under MLA. Absorbed: each decode step
/// multiplies its query with the unpacking. Explicit: keys and values are made for every position.
enum class LatentForm : std::uint8_t { absorbed, explicit_heads };

/// Dimensions, named as in the model's own configuration file.
struct LlmConfig {
  std::string name = {};
  std::string source = {};
  std::int64_t layers = 0;  ///< of the decoder
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;      ///< heads under MLA, where each has its own unpacked keys
  std::int64_t head_dim = 0;      ///< under MLA, the sum of its nope and rope parts
  std::int64_t intermediate = 0;  ///< width of the MLP of layers without experts
  std::int64_t vocabulary = 0;
  bool tied_embeddings = false;
  bool gated_mlp = true;  ///< gate, up and down; else up and down
  bool qkv_bias = false;
  /// Width of the latent that queries are made from, and whose norm they have, without MLA
  /// (multi-matrix factorization attention, Step-3); none: they are made from the residual stream.
  std::optional<std::int64_t> q_lora_rank = {};
  bool attention_gate = false;  ///< a product gates the attention's output (Qwen3-Next, Kimi K3)
  bool output_bias = false;     ///< of the attention's output projection (gpt-oss)
  bool qk_norm = false;         ///< norms over queries and keys (Qwen3)
  QkNormWidth qk_norm_over = QkNormWidth::head;
  bool attention_sinks = false;  ///< one logit a head in the softmax's denominator (gpt-oss)
  std::int64_t layer_norms = 2;  ///< norms of the residual stream's width in a layer
  /// Layers after which the sum so far is kept, and each later sublayer reads a mixture of all that
  /// were kept (attention residuals, Kimi K3); 0: none.
  std::int64_t residual_block = 0;
  std::int64_t relative_buckets = 0;                  ///< relative position biases (T5); 0: none
  std::optional<std::int64_t> attention_window = {};  ///< positions a token attends to
  std::optional<std::int64_t> attention_chunk = {};   ///< positions that attend to each other only
  /// Types of the layers in order, repeated up to the last one. Empty: all are windowed, chunked or
  /// indexed where there is a window, a chunk or an indexer, else full.
  std::vector<LayerType> layer_types = {};
  /// The same for what follows the attention. Empty: as `moe` says, else dense.
  std::vector<MlpType> mlp_types = {};
  std::optional<LinearConfig> linear = {};
  std::optional<MlaConfig> mla = {};
  std::optional<SharedKvConfig> shared_kv = {};
  std::optional<CompressionConfig> compression = {};
  std::optional<HyperConfig> hyper = {};
  std::optional<IndexerConfig> indexer = {};
  std::optional<MoeConfig> moe = {};
  std::optional<EncoderConfig> encoder = {};
  /// Modules that may draft (speculation.hpp); not counted among the weights.
  std::optional<MtpConfig> mtp = {};
  /// Weights that the published total has beside these, by what they are for.
  std::map<std::string, std::int64_t> left_out = {};
  /// Element types of the checkpoint, which a step has unless it states its own.
  std::optional<PublishedWeights> weights = {};
  /// One GPU's part of a model; not a field of the configuration.
  std::optional<ModelPart> part = {};

  std::int64_t query_width() const { return heads * head_dim; }
  /// Width of the latent of queries without MLA; 0: they have none.
  std::int64_t query_latent() const { return q_lora_rank.value_or(0); }
  std::int64_t kv_width() const { return kv_heads * head_dim; }

  /// True where the cache holds latents.
  bool caches_latents() const { return mla && !mla->unpacked; }
  /// Width of one head's unpacked value.
  std::int64_t value_dim() const { return mla ? mla->v_head_dim : head_dim; }
  /// Width of one cached key row; for latents, the latent and the rotary key, which serve all
  /// heads.
  std::int64_t key_width() const { return caches_latents() ? mla->latent_width() : head_dim; }
  /// Width of one cached value row; 0 for latents, which include the values, and for rows that are
  /// read as both.
  std::int64_t value_width() const { return caches_latents() || shared_kv ? 0 : value_dim(); }
  /// Number of rows of each kind for one position in a layer.
  std::int64_t cached_heads() const { return caches_latents() ? 1 : kv_heads; }
  /// Number of groups of query heads that read the same keys.
  std::int64_t key_groups() const { return caches_latents() ? mla->latent_heads : kv_heads; }
  /// Multiply-adds for each query head and position in decode: of scores, and of the weighted sum.
  std::int64_t score_width() const {
    return caches_latents() ? mla->head_latent() + mla->qk_rope_head_dim : head_dim;
  }
  std::int64_t mix_width() const { return caches_latents() ? mla->head_latent() : value_dim(); }
  /// Elements that one position adds to the decoder's cache, over all layers, beside index keys: of
  /// compressed rows a part, and nothing of a window beside them.
  std::int64_t cached_width() const;
  /// Bytes of the index keys of one position, over all layers.
  Bytes index_keys() const;
  LayerType type_of(std::int64_t layer) const;
  /// True where layers are of different types.
  bool mixes_types() const;
  /// The types of its layers, in the order in which they first appear.
  std::vector<LayerType> types() const;
  /// True where all layers have linear attention, as layers_of() gives them.
  bool all_linear() const {
    return layer_types.size() == 1 && layer_types.front() == LayerType::linear_attention;
  }
  /// Number of layers that cache keys and values of positions, and of those with a state.
  std::int64_t attention_layers() const;
  std::int64_t linear_layers() const;
  /// The layers of one type as a model whose layers are all alike; of two models with the same
  /// layers of a type, only the other numbers differ.
  LlmConfig layers_of(LayerType type) const;

  /// Number of positions that a token attends to out of `positions`, the last of which is its own.
  /// Of a model whose layers are of one type.
  std::int64_t attended(std::int64_t positions) const;
  /// Number of (query, position) pairs of a causal pass over `positions`; likewise.
  std::int64_t attended_pairs(std::int64_t positions) const;

  /// The products of a decoder layer before and after its (self) attention, in order; linear
  /// attention's where all layers have it, else those of the layers that cache positions. MLA,
  /// absorbed: the gate, if any, the queries, the cached latent and the key unpacking; then the
  /// value unpacking and the output. Explicit: the queries, the latent, and keys and values of
  /// every head; then the output. Together they have all matrix weights of the attention.
  std::vector<Product> projections_in(LatentForm form = LatentForm::absorbed) const;
  std::vector<Product> projections_out(LatentForm form = LatentForm::absorbed) const;
  /// The products of the cross attention that follows it; empty without an encoder. cross_kv()
  /// makes its keys and values once for each sequence, from the encoder's output.
  std::vector<Product> cross_projections_in() const;
  std::vector<Product> cross_projections_out() const;
  Product cross_kv() const;
  /// The products of the indexer; of a model that has one.
  std::vector<Product> index_projections() const {
    return indexer->projections(hidden, mla         ? mla->q_lora_rank
                                        : shared_kv ? shared_kv->q_lora_rank
                                                    : 0);
  }
  /// Weights of the indexer that are no matrices; of the layers of one type.
  std::int64_t index_vectors() const {
    return compression ? compression->vectors(indexer->head_dim) : indexer->vectors();
  }
  /// The product that joins so many vectors of the residual stream's width to one, on every GPU.
  Product joining(std::int64_t vectors) const {
    return {.in = vectors * hidden,
            .out = hidden,
            .produced = hidden,
            .weights = vectors * hidden * hidden};
  }
  /// The products of an MLP of this width: gate and up as one product, then down.
  std::vector<Product> mlp_products(std::int64_t width) const {
    return mlp_products(width, hidden);
  }
  /// The same where it reads and writes `stream` elements of a token.
  std::vector<Product> mlp_products(std::int64_t width, std::int64_t stream) const;

  /// Matrix weights of the MLP of a layer without experts.
  std::int64_t mlp_weights() const { return weights_of_mlp(intermediate); }
  /// Matrix weights of a layer with experts: of one routed expert, of all shared ones, and of the
  /// router; 0 without experts.
  std::int64_t expert_weights() const {
    return moe ? weights_of_mlp(moe->expert_intermediate, expert_hidden()) : 0;
  }
  std::int64_t shared_weights() const {
    return moe ? moe->shared_experts * weights_of_mlp(shared_intermediate()) : 0;
  }
  /// Width that routed experts read and write; the products between it and the residual stream, of
  /// which there are none where it is the same, have latent_weights().
  std::int64_t expert_hidden() const { return moe->latent.value_or(hidden); }
  std::int64_t latent_weights() const { return moe && moe->latent ? 2 * hidden * *moe->latent : 0; }
  std::int64_t router_weights() const { return moe ? hidden * moe->experts : 0; }
  MlpType mlp_type(std::int64_t layer) const;
  bool is_moe_layer(std::int64_t layer) const { return mlp_type(layer) == MlpType::experts; }
  std::int64_t moe_layers() const;  ///< number of layers with experts
  bool has_mlp(std::int64_t layer) const {
    const MlpType type = mlp_type(layer);
    return type == MlpType::dense || (type == MlpType::experts && !moe->removed);
  }
  /// Norms of the residual stream's width in a layer: half of layer_norms, or one, for each of
  /// attention and MLP.
  std::int64_t norms_of(std::int64_t layer) const;
  /// Number of routed experts of a layer on one GPU, and the width of a shared one there.
  std::int64_t held_experts() const { return part ? part->held_experts : moe->experts; }
  std::int64_t shared_intermediate() const {
    return part ? part->shared_intermediate : moe->shared_width();
  }

  /// Weights of a layer's attention that are no matrices, beside an indexer's: norms of queries,
  /// keys and latents, biases, sinks; of linear attention where all layers have it.
  std::int64_t attention_vectors() const;
  /// Those of a layer's experts and router: biases, the gate of the shared expert, and the table
  /// from tokens to experts.
  std::int64_t expert_vectors(std::int64_t layer) const;
  /// Weights of the hyper-connections of a layer's sublayers, and before the head.
  std::int64_t hyper_parameters(std::int64_t layer) const;
  std::int64_t hyper_head() const { return hyper ? hyper->head_parameters(hidden) : 0; }
  /// Residual streams of the model's width.
  std::int64_t streams() const { return hyper ? hyper->streams : 1; }
  /// All weights of a decoder layer, norms and biases included.
  std::int64_t layer_parameters(std::int64_t layer) const;
  /// All weights of the encoder, without the embedding that it shares with the decoder.
  std::int64_t encoder_parameters() const;
  /// All weights: layers, encoder, embeddings, norms and head.
  std::int64_t parameters() const;

  friend bool operator==(const LlmConfig&, const LlmConfig&) = default;

 private:
  std::int64_t weights_of_mlp(std::int64_t width) const { return weights_of_mlp(width, hidden); }
  std::int64_t weights_of_mlp(std::int64_t width, std::int64_t stream) const {
    return (gated_mlp ? 3 : 2) * stream * width;
  }
  std::int64_t attention_parameters(LayerType type) const;
};
void describe(Fields& f, LlmConfig& c);

}  // namespace tiersim
