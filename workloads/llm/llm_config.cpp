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
  if (c.moe) {
    f.check(c.moe->dense_layers < c.layers, "moe.dense_layers", "leaves no layer with experts",
            "leave moe out for a model without experts");
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
  f.check(!c.qkv_bias && !c.qk_norm && !c.attention_window && c.relative_buckets == 0 && !c.encoder,
          "mla",
          "cannot stand beside qkv_bias, qk_norm, attention_window, relative_buckets, encoder",
          "no such model is known");
}

}  // namespace

std::int64_t LlmConfig::attended(std::int64_t positions) const {
  return attention_window ? std::min(positions, *attention_window) : positions;
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

// Weights of one self attention with its norms and biases, without the norm before it.
std::int64_t LlmConfig::attention_parameters() const {
  std::int64_t all = weights(projections_in()) + weights(projections_out());
  if (mla) all += mla->q_lora_rank + mla->kv_lora_rank;  // a norm over each latent
  if (qkv_bias) all += query_width() + 2 * kv_width();
  if (qk_norm) all += 2 * head_dim;
  return all;
}

std::int64_t LlmConfig::layer_parameters(std::int64_t layer) const {
  std::int64_t all = attention_parameters() + 2 * hidden;
  if (encoder)
    all += weights(cross_projections_in()) + cross_kv().weights + weights(cross_projections_out()) +
           hidden;
  if (!has_mlp(layer)) return all - hidden;  // nor is there the norm before it
  if (!is_moe_layer(layer)) return all + mlp_weights();
  all += router_weights() + shared_weights() + held_experts() * expert_weights();
  return all + (moe->router_bias ? moe->experts : 0);
}

std::int64_t LlmConfig::encoder_parameters() const {
  if (!encoder) return 0;
  return encoder->layers * (attention_parameters() + mlp_weights() + 2 * hidden) +
         relative_buckets * heads + hidden;
}

std::int64_t LlmConfig::parameters() const {
  const std::int64_t dense = moe ? moe->dense_layers : layers;
  const std::int64_t embeddings = (tied_embeddings ? 1 : 2) * vocabulary * hidden;
  return dense * layer_parameters(0) + (layers - dense) * layer_parameters(layers - 1) +
         relative_buckets * heads + hidden + encoder_parameters() + embeddings;
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
  f.optional("qk_norm", c.qk_norm, "True where the query and the key of each head have a norm.");
  f.optional("relative_buckets", c.relative_buckets,
             "Relative position biases of a head, shared by the layers of a stack; 0 for none.",
             in_range(0, 100'000));
  f.optional("attention_window", c.attention_window,
             "Positions that a token attends to; all where it is left out.",
             in_range(1, 100'000'000));
  f.optional("mla", c.mla, "Multi-head latent attention in place of keys and values per head.");
  f.optional("moe", c.moe, "Mixture of experts in place of the MLP.");
  f.optional("encoder", c.encoder, "An encoder, which every decoder layer attends to.");
  check_combinations(f, c);
}

}  // namespace tiersim
