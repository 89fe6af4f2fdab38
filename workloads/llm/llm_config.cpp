#include "workloads/llm/llm_config.hpp"

#include <algorithm>

#include "sim/base/check.hpp"
#include "workloads/llm/llm_config_checks.hpp"

namespace tiersim {
namespace {

// Product where each head multiplies its part of the input with its own block.
Product by_head(std::int64_t heads, std::int64_t in, std::int64_t out) {
  return {.in = heads * in,
          .out = heads * out,
          .produced = heads * out,
          .weights = heads * in * out,
          .of_heads = true};
}

}  // namespace

LayerType LlmConfig::type_of(std::int64_t layer) const {
  if (layer_types.empty()) {
    if (compression)
      return compression->positions == 0 ? LayerType::sliding_attention
             : indexer                   ? LayerType::compressed_sparse_attention
                                         : LayerType::heavily_compressed_attention;
    if (indexer) return indexer->shared ? LayerType::shared_index : LayerType::indexed_attention;
    if (attention_window) return LayerType::sliding_attention;
    return attention_chunk ? LayerType::chunked_attention : LayerType::full_attention;
  }
  const auto index = static_cast<std::size_t>(layer + (part ? part->first_layer : 0));
  return layer_types[index % layer_types.size()];
}

std::int64_t LlmConfig::attention_layers() const {
  if (layer_types.empty()) return layers;
  std::int64_t sum = 0;
  for (std::int64_t layer = 0; layer < layers; ++layer)
    sum += caches_positions(type_of(layer)) ? 1 : 0;
  return sum;
}

std::int64_t LlmConfig::linear_layers() const {
  std::int64_t sum = 0;
  for (std::int64_t layer = 0; linear && layer < layers; ++layer)
    sum += type_of(layer) == LayerType::linear_attention ? 1 : 0;
  return sum;
}

Bytes LlmConfig::index_keys() const {
  Bytes sum;
  for (std::int64_t layer = 0; indexer && layer < layers; ++layer)
    if (type_of(layer) == LayerType::indexed_attention) sum += indexer->key();
  if (!compression || !indexer) return sum;
  const std::int64_t sparse = layers_of(LayerType::compressed_sparse_attention).layers;
  return Bytes::from_base(indexer->key().in_base() * sparse / compression->sparse);
}

std::int64_t LlmConfig::cached_width() const {
  const std::int64_t row = cached_heads() * (key_width() + value_width());
  if (!compression) return attention_layers() * row;
  std::int64_t sum = 0;
  for (const LayerType type : types())
    if (compresses(type)) {
      const LlmConfig m = layers_of(type);
      sum += m.layers * row / m.compression->positions;
    }
  return sum;
}

std::vector<LayerType> LlmConfig::types() const {
  std::vector<LayerType> out{type_of(0)};
  if (layer_types.empty()) return out;
  for (std::int64_t layer = 1; layer < layers; ++layer)
    if (std::ranges::find(out, type_of(layer)) == out.end()) out.push_back(type_of(layer));
  return out;
}

bool LlmConfig::mixes_types() const {
  return !layer_types.empty() && types().size() > 1;
}

LlmConfig LlmConfig::layers_of(LayerType type) const {
  LlmConfig m = *this;
  m.layers = 0;
  for (std::int64_t layer = 0; layer < layers; ++layer) m.layers += type_of(layer) == type ? 1 : 0;
  // Only these layers' MLPs may be asked for, and by their index in the whole model.
  m.layer_types.clear();
  if (!caches_positions(type)) m.layer_types = {type};
  if (type != LayerType::linear_attention) m.linear.reset();
  if (type != LayerType::sliding_attention && !compresses(type)) m.attention_window.reset();
  if (type != LayerType::chunked_attention) m.attention_chunk.reset();
  const bool sparse = type == LayerType::compressed_sparse_attention;
  if (type != LayerType::indexed_attention && type != LayerType::shared_index && !sparse)
    m.indexer.reset();
  if (m.compression) {
    m.compression->positions = sparse             ? m.compression->sparse
                               : compresses(type) ? m.compression->heavy
                                                  : 0;
    m.compression->groups = sparse ? 2 : compresses(type) ? 1 : 0;
  }
  if (m.indexer) m.indexer->shared = type == LayerType::shared_index;
  return m;
}

std::int64_t LlmConfig::attended(std::int64_t positions) const {
  TS_EXPECTS(layer_types.empty());
  if (attention_window) return std::min(positions, *attention_window);
  if (attention_chunk && positions > 0) return (positions - 1) % *attention_chunk + 1;
  return positions;
}

std::int64_t LlmConfig::attended_pairs(std::int64_t positions) const {
  TS_EXPECTS(layer_types.empty());
  const auto triangle = [](std::int64_t side) { return side * (side + 1) / 2; };
  if (attention_window) {
    const std::int64_t growing = std::min(positions, *attention_window);
    return triangle(growing) + (positions - growing) * *attention_window;
  }
  if (attention_chunk)
    return positions / *attention_chunk * triangle(*attention_chunk) +
           triangle(positions % *attention_chunk);
  return triangle(positions);
}

std::vector<Product> LlmConfig::projections_in(LatentForm form) const {
  if (all_linear()) return linear->projections_in(hidden);
  if (shared_kv) {
    std::vector<Product> products{full_product(hidden, shared_kv->q_lora_rank),
                                  full_product(shared_kv->q_lora_rank, query_width()),
                                  full_product(hidden, head_dim)};
    if (compression->positions > 0)
      products.push_back(full_product(hidden, compression->inputs(head_dim)));
    return products;
  }
  if (!mla && q_lora_rank)
    return {full_product(hidden, query_latent() + 2 * kv_width()),
            full_product(query_latent(), query_width())};
  if (!mla)
    return {full_product(hidden, (attention_gate ? 2 : 1) * query_width() + 2 * kv_width())};
  const std::int64_t queries = heads * mla->qk_head_dim();
  std::vector<Product> products;
  if (attention_gate) products.push_back(full_product(hidden, heads * mla->v_head_dim));
  if (mla->q_lora_rank == 0) {
    products.push_back(full_product(hidden, queries));
  } else {
    products.push_back(full_product(hidden, mla->q_lora_rank));
    products.push_back(full_product(mla->q_lora_rank, queries));
  }
  products.push_back(full_product(hidden, mla->latent_width()));
  if (form == LatentForm::absorbed) {
    products.push_back(by_head(heads, mla->qk_nope_head_dim, mla->head_latent()));
  } else {
    // Each head unpacks its own latent head, as a separate product.
    Product unpack =
        full_product(mla->kv_lora_rank, heads * (mla->qk_nope_head_dim + mla->v_head_dim));
    unpack.weights /= mla->latent_heads;
    products.push_back(unpack);
  }
  return products;
}

std::vector<Product> LlmConfig::projections_out(LatentForm form) const {
  if (all_linear()) return linear->projections_out(hidden);
  if (shared_kv) {
    const std::int64_t joined = shared_kv->output_groups * shared_kv->output_rank;
    Product groups = full_product(query_width(), joined);
    groups.weights /= shared_kv->output_groups;
    return {groups, full_product(joined, hidden)};
  }
  const std::int64_t output_heads = part ? part->output_heads : heads;
  const Product output = full_product(output_heads * value_dim(), hidden);
  if (!mla || form == LatentForm::explicit_heads) return {output};
  return {by_head(heads, mla->head_latent(), mla->v_head_dim), output};
}

std::vector<Product> LlmConfig::cross_projections_in() const {
  if (!encoder) return {};
  return {full_product(hidden, query_width())};
}

std::vector<Product> LlmConfig::cross_projections_out() const {
  if (!encoder) return {};
  return {full_product(query_width(), hidden)};
}

Product LlmConfig::cross_kv() const {
  TS_EXPECTS(encoder.has_value());
  return full_product(hidden, 2 * kv_width());
}

std::vector<Product> LlmConfig::mlp_products(std::int64_t width, std::int64_t stream) const {
  Product up = full_product(stream, gated_mlp ? 2 * width : width);
  up.produced = width;
  return {up, full_product(width, stream)};
}

std::int64_t LlmConfig::attention_vectors() const {
  if (all_linear()) return linear->vectors();
  // A norm over each latent.
  std::int64_t all = mla ? mla->q_lora_rank + mla->kv_lora_rank : query_latent();
  if (qkv_bias) all += query_width() + 2 * kv_width();
  if (output_bias) all += hidden;
  if (qk_norm) all += qk_norm_over == QkNormWidth::head ? 2 * head_dim : query_width() + kv_width();
  if (attention_sinks) all += heads;
  if (shared_kv) all += shared_kv->q_lora_rank + head_dim + compression->vectors(head_dim);
  return all;
}

std::int64_t LlmConfig::expert_vectors(std::int64_t layer) const {
  if (!moe) return 0;
  std::int64_t all = moe->router_bias ? moe->experts : 0;
  if (layer + (part ? part->first_layer : 0) < moe->hash_layers.value_or(0))
    all = (part ? part->vocabulary : vocabulary) * moe->experts_per_token;
  if (moe->shared_gate) all += hidden;
  if (moe->latent_norm) all += *moe->latent;
  if (moe->expert_bias)
    all += held_experts() * ((gated_mlp ? 2 : 1) * moe->expert_intermediate + expert_hidden());
  return all;
}

// Weights of one self attention without the norm before it.
std::int64_t LlmConfig::attention_parameters(LayerType type) const {
  if (type == LayerType::no_attention) return 0;
  if (type == LayerType::linear_attention) return linear ? linear->parameters(hidden) : 0;
  if (compression) {
    const LlmConfig m = layers_of(type);
    return weights_of(m.projections_in()) + weights_of(m.projections_out()) +
           m.attention_vectors() +
           (m.indexer ? weights_of(m.index_projections()) + m.index_vectors() : 0);
  }
  const std::int64_t index = type == LayerType::indexed_attention && indexer
                                 ? weights_of(index_projections()) + indexer->vectors()
                                 : 0;
  return index + weights_of(projections_in()) + weights_of(projections_out()) + attention_vectors();
}

std::int64_t LlmConfig::norms_of(std::int64_t layer) const {
  const std::int64_t half = layer_norms / 2;
  // Attention residuals: a norm and the scores of a mixture before each sublayer.
  const std::int64_t mixed = residual_block > 0 ? 4 : 0;
  return layer_norms + mixed - (has_mlp(layer) ? 0 : half) -
         (type_of(layer) == LayerType::no_attention ? half : 0);
}

std::int64_t LlmConfig::layer_parameters(std::int64_t layer) const {
  std::int64_t all =
      attention_parameters(type_of(layer)) + norms_of(layer) * hidden + hyper_parameters(layer);
  if (encoder)
    all += weights_of(cross_projections_in()) + cross_kv().weights +
           weights_of(cross_projections_out()) + hidden;
  if (!has_mlp(layer)) return all;
  if (!is_moe_layer(layer)) return all + mlp_weights();
  return all + router_weights() + shared_weights() + latent_weights() +
         held_experts() * expert_weights() + expert_vectors(layer);
}

std::int64_t LlmConfig::hyper_parameters(std::int64_t layer) const {
  if (!hyper) return 0;
  const bool attends = type_of(layer) != LayerType::no_attention;
  return ((attends ? 1 : 0) + (has_mlp(layer) ? 1 : 0)) * hyper->parameters(hidden);
}

std::int64_t LlmConfig::encoder_parameters() const {
  if (!encoder) return 0;
  return encoder->layers *
             (attention_parameters(LayerType::full_attention) + mlp_weights() + 2 * hidden) +
         relative_buckets * heads + hidden;
}

MlpType LlmConfig::mlp_type(std::int64_t layer) const {
  const std::int64_t index = layer + (part ? part->first_layer : 0);
  if (!mlp_types.empty()) return mlp_types[static_cast<std::size_t>(index) % mlp_types.size()];
  if (!moe || index < moe->dense_layers) return MlpType::dense;
  return (index - moe->dense_layers + 1) % moe->every == 0 ? MlpType::experts : MlpType::dense;
}

std::int64_t LlmConfig::moe_layers() const {
  std::int64_t sum = 0;
  for (std::int64_t layer = 0; layer < layers; ++layer) sum += is_moe_layer(layer) ? 1 : 0;
  return sum;
}

std::int64_t LlmConfig::parameters() const {
  std::int64_t all = relative_buckets * heads + hidden + encoder_parameters() +
                     (tied_embeddings ? 1 : 2) * vocabulary * hidden +
                     (residual_block > 0 ? 2 * hidden : 0) + hyper_head();
  for (std::int64_t layer = 0; layer < layers; ++layer) all += layer_parameters(layer);
  return all;
}

void describe(Fields& f, EncoderConfig& c) {
  f.doc("A bidirectional encoder before the decoder, with the same widths.");
  f.required("layers", c.layers, "Encoder layers.", in_range(1, 1000));
}

namespace {

void describe_attention(Fields& f, LlmConfig& c) {
  f.optional("qkv_bias", c.qkv_bias, "True where queries, keys and values have a bias.");
  f.optional("output_bias", c.output_bias,
             "True where the attention's output projection has a bias.");
  f.optional("q_lora_rank", c.q_lora_rank,
             "Width of the latent that queries are made from, without MLA (Step-3).",
             in_range(1, 100'000));
  f.optional("attention_gate", c.attention_gate,
             "True where a product gates the attention's output (Qwen3-Next, Kimi K3).");
  f.optional("qk_norm", c.qk_norm, "True where queries and keys have a norm.");
  f.optional("qk_norm_over", c.qk_norm_over, kQkNormWidthNames,
             "Whether each head has its norm, or all heads together have one.");
  f.optional("attention_sinks", c.attention_sinks,
             "True where each head has a learned logit that takes a part of the softmax.");
}

}  // namespace

void describe(Fields& f, LlmConfig& c) {
  f.doc("A transformer, by its published dimensions.");
  f.importable("hf_config", "Configuration file of a Hugging Face model (config.json).");
  f.required("name", c.name, "Name of the model.");
  f.required("source", c.source, "Where the dimensions are published.");
  f.required("layers", c.layers, "Decoder layers.", in_range(1, 1000));
  f.required("hidden", c.hidden, "Width of the residual stream.", in_range(1, 200'000));
  f.required("heads", c.heads, "Query heads.", in_range(1, 4096));
  f.required("kv_heads", c.kv_heads, "Key and value heads; fewer than heads under GQA.",
             in_range(1, 4096));
  f.required("head_dim", c.head_dim, "Width of one head.", in_range(1, 4096));
  f.required("intermediate", c.intermediate, "Width of the MLP of layers without experts.",
             in_range(1, 1'000'000));
  f.required("vocabulary", c.vocabulary, "Entries of the vocabulary.", in_range(1, 10'000'000));
  f.optional("tied_embeddings", c.tied_embeddings, "True where embedding and head share weights.");
  f.optional("gated_mlp", c.gated_mlp, "True where the MLP has a gate matrix beside up and down.");
  describe_attention(f, c);
  f.optional(
      "layer_norms", c.layer_norms,
      "Norms of the residual stream in a layer: 1 where attention and MLP share one, 4 where "
      "each has one before and one after.",
      in_range(1, 4));
  f.optional("residual_block", c.residual_block,
             "Layers after which the residual stream is kept for later sublayers to mix (attention "
             "residuals); 0 for none.",
             in_range(0, 1000));
  f.optional("relative_buckets", c.relative_buckets,
             "Relative position biases of a head, shared by the layers of a stack; 0 for none.",
             in_range(0, 100'000));
  f.optional("attention_window", c.attention_window,
             "Positions that a token attends to; all where it is left out.",
             in_range(1, 100'000'000));
  f.optional("attention_chunk", c.attention_chunk,
             "Positions of a chunk, which attend to each other only.", in_range(1, 100'000'000));
  f.optional("layer_types", c.layer_types, kLayerTypeNames,
             "How the layers attend, in order; a shorter list repeats.");
  f.optional(
      "mlp_types", c.mlp_types, kMlpTypeNames,
      "What follows the attention of each layer, likewise; as moe says where it is left out.");
  f.optional("linear", c.linear, "Linear attention of the layers of that type.");
  f.optional("indexer", c.indexer,
             "Indexer that chooses the positions which attention reads, in all layers or in those "
             "of indexed_attention.");
  f.optional("mla", c.mla, "Multi-head latent attention in place of keys and values per head.");
  f.optional(
      "shared_kv", c.shared_kv,
      "One cached row that all heads read as key and as value, in place of keys and values.");
  f.optional("compression", c.compression,
             "Cached rows that stand for several positions, beside the rows of attention_window.");
  f.optional("hyper", c.hyper, "Several residual streams that each sublayer mixes.");
  f.optional("moe", c.moe, "Mixture of experts in place of the MLP.");
  f.optional("encoder", c.encoder, "An encoder, which every decoder layer attends to.");
  f.optional("mtp", c.mtp, "Modules for multi-token prediction, which may draft.");
  f.optional("left_out", c.left_out,
             "Weights of the published total that are not modelled, by part: vision, mtp, ...",
             in_range(1, std::int64_t{1} << 50));
  f.optional("weights", c.weights,
             "Element types of the published weights, which a step has unless it states its own.");
  check_combinations(f, c);
}

}  // namespace tiersim
