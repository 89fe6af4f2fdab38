#pragma once
// A transformer by its published dimensions, and what follows from them: weights of each part,
// matrix products of a layer, widths of a cached row. Decoder-only (Llama, Mistral, Qwen), with
// latent attention (DeepSeek, Kimi), with experts (Mixtral, DeepSeek, Kimi), or with an encoder
// (T5). All counts are elements or weights, never bytes.
//
// Not counted: a multi-token-prediction module, scales of a quantised checkpoint, and buffers that
// are no weights (rotary frequencies).
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/fields.hpp"
#include "workloads/llm/mla_config.hpp"
#include "workloads/llm/moe_config.hpp"

namespace tiersim {

/// A bidirectional encoder before the decoder, with the decoder's widths; every decoder layer then
/// has a cross attention after its self attention.
struct EncoderConfig {
  std::int64_t layers = 0;

  friend bool operator==(const EncoderConfig&, const EncoderConfig&) = default;
};
void describe(Fields& f, EncoderConfig& c);

/// One matrix product, for a token: 2 * weights FLOPs. Biases are not in `weights`.
struct Product {
  std::int64_t in = 0;        ///< width of what it reads
  std::int64_t out = 0;       ///< width of the product
  std::int64_t produced = 0;  ///< width of what it writes; less than out under a fused gate
  std::int64_t weights = 0;   ///< in * out; less where each head multiplies with its own block

  friend bool operator==(const Product&, const Product&) = default;
};

/// Dimensions as in the model's own configuration file.
struct LlmConfig {
  std::string name = {};
  std::string source = {};
  std::int64_t layers = 0;  ///< of the decoder
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;      ///< heads under MLA, where each unpacks keys of its own
  std::int64_t head_dim = 0;      ///< nope and rope together under MLA
  std::int64_t intermediate = 0;  ///< width of the MLP of layers without experts
  std::int64_t vocabulary = 0;
  bool tied_embeddings = false;
  bool gated_mlp = true;  ///< gate, up and down; else up and down
  bool qkv_bias = false;
  bool qk_norm = false;                               ///< norms over a head's query and key (Qwen3)
  std::int64_t relative_buckets = 0;                  ///< relative position biases (T5); 0: none
  std::optional<std::int64_t> attention_window = {};  ///< positions a token attends to
  std::optional<MlaConfig> mla = {};
  std::optional<MoeConfig> moe = {};
  std::optional<EncoderConfig> encoder = {};

  std::int64_t query_width() const { return heads * head_dim; }
  std::int64_t kv_width() const { return kv_heads * head_dim; }

  /// One cached key row; under MLA the latent and the rotary key, which serve all heads.
  std::int64_t key_width() const { return mla ? mla->latent_width() : head_dim; }
  /// One cached value row; under MLA 0, since the values are in the latent.
  std::int64_t value_width() const { return mla ? 0 : head_dim; }
  /// Rows of each kind that a position has in a layer.
  std::int64_t cached_heads() const { return mla ? 1 : kv_heads; }
  /// Multiply-adds for each query head and position in decode: scores, and weighted sum.
  std::int64_t score_width() const { return mla ? mla->latent_width() : head_dim; }
  std::int64_t mix_width() const { return mla ? mla->kv_lora_rank : head_dim; }
  /// Elements that the decoder's cache grows by with a position, all layers.
  std::int64_t cached_width() const {
    return layers * cached_heads() * (key_width() + value_width());
  }
  /// Positions that a token attends to out of so many.
  std::int64_t attended(std::int64_t positions) const;

  /// The products of a decoder layer before and after its (self) attention, in order. MLA: the
  /// queries, the cached latent and the absorbed key unpacking; then the value unpacking and the
  /// output. Their weights together are all matrix weights of the attention.
  std::vector<Product> projections_in() const;
  std::vector<Product> projections_out() const;
  /// The same for the cross attention that follows it; none without an encoder. Its keys and values
  /// are made once for a sequence, of the encoder's output: cross_kv().
  std::vector<Product> cross_projections_in() const;
  std::vector<Product> cross_projections_out() const;
  Product cross_kv() const;
  /// An MLP of this width: gate and up as one product, then down.
  std::vector<Product> mlp_products(std::int64_t width) const;

  /// Matrix weights of the MLP of a layer without experts.
  std::int64_t mlp_weights() const { return weights_of_mlp(intermediate); }
  /// Matrix weights of a layer with experts: of one routed expert, of all shared ones, and of the
  /// router. 0 without experts.
  std::int64_t expert_weights() const { return moe ? weights_of_mlp(moe->expert_intermediate) : 0; }
  std::int64_t shared_weights() const { return moe ? moe->shared_experts * expert_weights() : 0; }
  std::int64_t router_weights() const { return moe ? hidden * moe->experts : 0; }
  bool is_moe_layer(std::int64_t layer) const { return moe && layer >= moe->dense_layers; }

  /// All weights of a decoder layer, norms and biases included.
  std::int64_t layer_parameters(std::int64_t layer) const;
  /// All weights of the encoder, without the embedding that it shares with the decoder.
  std::int64_t encoder_parameters() const;
  /// All weights: layers, encoder, embeddings, norms and head.
  std::int64_t parameters() const;

  friend bool operator==(const LlmConfig&, const LlmConfig&) = default;

 private:
  std::int64_t weights_of_mlp(std::int64_t width) const {
    return (gated_mlp ? 3 : 2) * hidden * width;
  }
  std::int64_t attention_parameters() const;
};
void describe(Fields& f, LlmConfig& c);

}  // namespace tiersim
