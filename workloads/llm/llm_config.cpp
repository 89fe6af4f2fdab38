#include "workloads/llm/llm_config.hpp"

#include <algorithm>
#include <numeric>

#include "sim/base/check.hpp"

namespace tiersim {
namespace {

Product full(std::int64_t in, std::int64_t out) {
  return {.in = in, .out = out, .produced = out, .weights = in * out};
}

// Product where each head multiplies its part of the input with its own block.
Product by_head(std::int64_t heads, std::int64_t in, std::int64_t out) {
  return {
      .in = heads * in, .out = heads * out, .produced = heads * out, .weights = heads * in * out};
}

std::int64_t weights(const std::vector<Product>& products) {
  return std::accumulate(products.begin(), products.end(), std::int64_t{0},
                         [](std::int64_t sum, const Product& p) { return sum + p.weights; });
}

void check_combinations(Fields& f, const LlmConfig& c) {
  f.check(c.kv_heads == 0 || c.heads % c.kv_heads == 0, "kv_heads", "does not divide heads",
          "every KV head serves the same number of query heads");
  const auto has = [&](LayerType type) { return std::ranges::count(c.layer_types, type) > 0; };
  const bool all = c.layer_types.empty();
  f.check(c.attention_window || !has(LayerType::sliding_attention), "attention_window",
          "is missing, and layer_types has sliding_attention", "the positions of the window");
  f.check(c.attention_chunk || !has(LayerType::chunked_attention), "attention_chunk",
          "is missing, and layer_types has chunked_attention", "the positions of a chunk");
  f.check(all || !c.attention_window || has(LayerType::sliding_attention), "attention_window",
          "is of no layer: layer_types has no sliding_attention", "leave it out");
  f.check(all || !c.attention_chunk || has(LayerType::chunked_attention), "attention_chunk",
          "is of no layer: layer_types has no chunked_attention", "leave it out");
  f.check(!all || !c.attention_window || !c.attention_chunk, "attention_chunk",
          "cannot stand beside attention_window without layer_types",
          "layer_types says which layers have which");
  f.check(static_cast<std::int64_t>(c.layer_types.size()) <= c.layers, "layer_types",
          "is longer than the model", "one entry a layer, or fewer that repeat");
  if (c.moe) {
    f.check(c.moe->dense_layers + c.moe->every <= c.layers, "moe.dense_layers",
            "leaves no layer with experts", "leave moe out for a model without experts");
    f.check(!c.encoder, "moe", "cannot stand beside encoder", "no such model is known");
  }
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

}  // namespace

LayerType LlmConfig::type_of(std::int64_t layer) const {
  if (layer_types.empty()) {
    if (attention_window) return LayerType::sliding_attention;
    return attention_chunk ? LayerType::chunked_attention : LayerType::full_attention;
  }
  const auto index = static_cast<std::size_t>(layer + (part ? part->first_layer : 0));
  return layer_types[index % layer_types.size()];
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
  m.layer_types.clear();
  if (type != LayerType::sliding_attention) m.attention_window.reset();
  if (type != LayerType::chunked_attention) m.attention_chunk.reset();
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
  if (!mla) return {full(hidden, query_width() + 2 * kv_width())};
  const std::int64_t queries = heads * mla->qk_head_dim();
  std::vector<Product> products;
  if (mla->q_lora_rank == 0) {
    products.push_back(full(hidden, queries));
  } else {
    products.push_back(full(hidden, mla->q_lora_rank));
    products.push_back(full(mla->q_lora_rank, queries));
  }
  products.push_back(full(hidden, mla->latent_width()));
  if (form == LatentForm::absorbed) {
    products.push_back(by_head(heads, mla->qk_nope_head_dim, mla->head_latent()));
  } else {
    // Each head unpacks its own latent head, as a separate product.
    Product unpack = full(mla->kv_lora_rank, heads * (mla->qk_nope_head_dim + mla->v_head_dim));
    unpack.weights /= mla->latent_heads;
    products.push_back(unpack);
  }
  return products;
}

std::vector<Product> LlmConfig::projections_out(LatentForm form) const {
  const std::int64_t output_heads = part ? part->output_heads : heads;
  const Product output = full(output_heads * value_dim(), hidden);
  if (!mla || form == LatentForm::explicit_heads) return {output};
  return {by_head(heads, mla->head_latent(), mla->v_head_dim), output};
}

std::vector<Product> LlmConfig::cross_projections_in() const {
  if (!encoder) return {};
  return {full(hidden, query_width())};
}

std::vector<Product> LlmConfig::cross_projections_out() const {
  if (!encoder) return {};
  return {full(query_width(), hidden)};
}

Product LlmConfig::cross_kv() const {
  TS_EXPECTS(encoder.has_value());
  return full(hidden, 2 * kv_width());
}

std::vector<Product> LlmConfig::mlp_products(std::int64_t width) const {
  Product up = full(hidden, gated_mlp ? 2 * width : width);
  up.produced = width;
  return {up, full(width, hidden)};
}

std::int64_t LlmConfig::attention_vectors() const {
  std::int64_t all = mla ? mla->q_lora_rank + mla->kv_lora_rank : 0;  // a norm over each latent
  if (qkv_bias) all += query_width() + 2 * kv_width();
  if (output_bias) all += hidden;
  if (qk_norm) all += qk_norm_over == QkNormWidth::head ? 2 * head_dim : query_width() + kv_width();
  if (attention_sinks) all += heads;
  return all;
}

std::int64_t LlmConfig::expert_vectors() const {
  if (!moe) return 0;
  std::int64_t all = moe->router_bias ? moe->experts : 0;
  if (moe->shared_gate) all += hidden;
  if (moe->expert_bias)
    all += held_experts() * ((gated_mlp ? 2 : 1) * moe->expert_intermediate + hidden);
  return all;
}

// Weights of one self attention without the norm before it.
std::int64_t LlmConfig::attention_parameters() const {
  return weights(projections_in()) + weights(projections_out()) + attention_vectors();
}

std::int64_t LlmConfig::parameters_of_layer(bool experts) const {
  std::int64_t all = attention_parameters() + layer_norms * hidden;
  if (encoder)
    all += weights(cross_projections_in()) + cross_kv().weights + weights(cross_projections_out()) +
           hidden;
  if (experts && moe->removed) return all - hidden;  // nor is there the norm before it
  if (!experts) return all + mlp_weights();
  return all + router_weights() + shared_weights() + held_experts() * expert_weights() +
         expert_vectors();
}

std::int64_t LlmConfig::encoder_parameters() const {
  if (!encoder) return 0;
  return encoder->layers * (attention_parameters() + mlp_weights() + 2 * hidden) +
         relative_buckets * heads + hidden;
}

bool LlmConfig::is_moe_layer(std::int64_t layer) const {
  if (!moe) return false;
  const std::int64_t after = layer + (part ? part->first_layer : 0) - moe->dense_layers;
  return after >= 0 && (after + 1) % moe->every == 0;
}

std::int64_t LlmConfig::moe_layers() const {
  std::int64_t sum = 0;
  for (std::int64_t layer = 0; layer < layers; ++layer) sum += is_moe_layer(layer) ? 1 : 0;
  return sum;
}

std::int64_t LlmConfig::parameters() const {
  const std::int64_t with_experts = moe_layers();
  std::int64_t all = relative_buckets * heads + hidden + encoder_parameters() +
                     (tied_embeddings ? 1 : 2) * vocabulary * hidden;
  if (with_experts < layers) all += (layers - with_experts) * parameters_of_layer(false);
  if (with_experts > 0) all += with_experts * parameters_of_layer(true);
  return all;
}

void describe(Fields& f, EncoderConfig& c) {
  f.doc("A bidirectional encoder before the decoder, with the same widths.");
  f.required("layers", c.layers, "Encoder layers.", in_range(1, 1000));
}

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
  f.optional("qkv_bias", c.qkv_bias, "True where queries, keys and values have a bias.");
  f.optional("output_bias", c.output_bias,
             "True where the attention's output projection has a bias.");
  f.optional("qk_norm", c.qk_norm, "True where queries and keys have a norm.");
  f.optional("qk_norm_over", c.qk_norm_over, kQkNormWidthNames,
             "Whether each head has its norm, or all heads together have one.");
  f.optional("attention_sinks", c.attention_sinks,
             "True where each head has a learned logit that takes a part of the softmax.");
  f.optional(
      "layer_norms", c.layer_norms,
      "Norms of the residual stream in a layer: 1 where attention and MLP share one, 4 where "
      "each has one before and one after.",
      in_range(1, 4));
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
  f.optional("mla", c.mla, "Multi-head latent attention in place of keys and values per head.");
  f.optional("moe", c.moe, "Mixture of experts in place of the MLP.");
  f.optional("encoder", c.encoder, "An encoder, which every decoder layer attends to.");
  f.optional("mtp", c.mtp, "Modules for multi-token prediction, which may draft.");
  f.optional("left_out", c.left_out,
             "Weights of the published total that are not modelled, by part: vision, mtp, ...",
             in_range(1, std::int64_t{1} << 50));
  check_combinations(f, c);
}

}  // namespace tiersim
