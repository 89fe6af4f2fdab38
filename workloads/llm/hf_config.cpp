#include "workloads/llm/hf_config.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/config/describe.hpp"
#include "workloads/llm/hf_keys.hpp"
#include "workloads/llm/llm_config.hpp"

namespace tiersim {
namespace {

constexpr std::string_view kNullForNone = "write null where there is none";

void read_stack(HfKeys& keys, LlmConfig& c) {
  c.layers = keys.whole("num_hidden_layers");
  c.hidden = keys.whole("hidden_size");
  c.heads = keys.whole("num_attention_heads");
  c.intermediate = keys.whole("intermediate_size");
  c.vocabulary = keys.whole("vocab_size");
  c.tied_embeddings = keys.flag("tie_word_embeddings", false);
}

void read_heads(HfKeys& keys, LlmConfig& c) {
  if (const auto head_dim = keys.whole_or_none("head_dim")) {
    c.head_dim = *head_dim;
  } else if (c.heads > 0 && c.hidden % c.heads == 0) {
    c.head_dim = c.hidden / c.heads;
  } else if (c.heads > 0) {
    keys.reject("head_dim", "is missing, and num_attention_heads does not divide hidden_size");
  }
}

void refuse_biases(HfKeys& keys) {
  keys.refuse("attention_bias");
  keys.refuse("mlp_bias");
}

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
    keys.reject("sliding_window", "is missing", std::string(kNullForNone));
  read_window(keys, c);
  refuse_biases(keys);
}

std::int64_t read_experts(HfKeys& keys) {
  const auto local = keys.whole_or_none("num_local_experts");
  return local ? *local : keys.whole("num_experts");
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

void read_latent_attention(HfKeys& keys, LlmConfig& c) {
  c.mla = MlaConfig{.q_lora_rank = keys.whole_or_none("q_lora_rank").value_or(0),
                    .kv_lora_rank = keys.whole("kv_lora_rank"),
                    .qk_nope_head_dim = keys.whole("qk_nope_head_dim"),
                    .qk_rope_head_dim = keys.whole("qk_rope_head_dim"),
                    .v_head_dim = keys.whole("v_head_dim")};
  if (!keys.has_key("q_lora_rank"))
    keys.reject("q_lora_rank", "is missing", std::string(kNullForNone));
  c.kv_heads = keys.whole_or_none("num_key_value_heads").value_or(c.heads);
  c.head_dim = c.mla->qk_head_dim();
  keys.ignore("head_dim");  // if present, that of the rotary part
  refuse_biases(keys);
}

// `method` is the default of the router's method.
void read_deepseek(HfKeys& keys, LlmConfig& c, const std::string& method) {
  read_stack(keys, c);
  read_latent_attention(keys, c);
  if (!keys.has_key("n_routed_experts"))
    keys.reject("n_routed_experts", "is missing", std::string(kNullForNone));
  const auto experts = keys.whole_or_none("n_routed_experts");
  if (!experts) {
    for (const char* key : {"num_experts_per_tok", "n_shared_experts", "moe_intermediate_size",
                            "first_k_dense_replace", "moe_layer_freq"})
      keys.ignore(key);
    return;
  }
  c.moe = MoeConfig{.experts = *experts,
                    .experts_per_token = keys.whole("num_experts_per_tok"),
                    .shared_experts = keys.whole_or_none("n_shared_experts").value_or(0),
                    .expert_intermediate = keys.whole("moe_intermediate_size"),
                    .dense_layers = keys.whole("first_k_dense_replace"),
                    .router_bias = keys.text("topk_method", method) == "noaux_tc"};
  if (keys.whole_or_none("moe_layer_freq").value_or(1) != 1)
    keys.reject("moe_layer_freq", "is not 1, which is not modelled");
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

struct ModelType {
  std::string_view name;
  void (*read)(HfKeys& keys, LlmConfig& c);
};
constexpr std::array<ModelType, 10> kTypes{{{"deepseek_v2", read_deepseek_v2},
                                            {"deepseek_v3", read_deepseek_v3},
                                            {"kimi_k2", read_deepseek_v3},
                                            {"llama", read_llama},
                                            {"mistral", read_mistral},
                                            {"mixtral", read_mixtral},
                                            {"qwen2", read_qwen2},
                                            {"qwen3", read_qwen3},
                                            {"qwen3_moe", read_qwen3_moe},
                                            {"t5", read_t5}}};

// The last part of a path; that of "a/b/" is b.
std::string last_part(std::string path) {
  while (!path.empty() && path.back() == '/') path.pop_back();
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::string name_of(HfKeys& keys, const std::filesystem::path& path, std::string_view type) {
  std::string name = last_part(keys.text("_name_or_path", ""));
  if (name.empty() && path.stem() != "config") name = path.stem().string();
  if (name.empty()) name = path.parent_path().filename().string();
  return name.empty() ? std::string(type) : name;
}

// Description of the file's weight format; a model has no types, and takes those of the step.
std::string quantisation(HfKeys& keys) {
  const std::string key = "quantization_config";
  if (!keys.has_entries(key)) return "";
  const std::string method = keys.text_below(key, "quant_method");
  const auto bits = keys.whole_below(key, "bits");
  std::string note = ", published with weights quantised";
  if (!method.empty()) note += " by " + method;
  if (bits) note += fmt::format(" to {} bits", *bits);
  return note + ", run here as step.weight_type says";
}

// Without parent folders: the same file on another machine is the same model.
std::string source_of(HfKeys& keys, const std::filesystem::path& path, std::string_view type) {
  const auto folder = path.parent_path().filename();
  std::string source = fmt::format("Hugging Face configuration file {}, model_type {}",
                                   (folder / path.filename()).generic_string(), type);
  if (keys.whole_or_none("num_nextn_predict_layers").value_or(0) > 0)
    source += ", without the multi-token-prediction module";
  return source + quantisation(keys);
}

}  // namespace

std::vector<std::string> hf_model_types() {
  std::vector<std::string> names;
  for (const ModelType& type : kTypes) names.emplace_back(type.name);
  return names;
}

Expected<std::string, std::vector<ImportProblem>> import_hf_config(
    const std::filesystem::path& path, const std::string& text) {
  HfKeys keys(path.string(), text);
  if (!keys.readable()) return Unexpected(keys.problems());
  const std::string name = keys.text("model_type", "");
  const auto* type = std::ranges::find(kTypes, std::string_view(name), &ModelType::name);
  if (type == kTypes.end()) {
    if (!keys.problems().empty()) return Unexpected(keys.problems());
    const std::string message = name.empty()
                                    ? fmt::format("'{}': missing key 'model_type'", path.string())
                                    : fmt::format("model_type '{}' is not supported", name);
    return Unexpected(
        std::vector<ImportProblem>{{message, "supported: " + join(hf_model_types())}});
  }
  LlmConfig model;
  type->read(keys, model);
  model.name = name_of(keys, path, name);
  model.source = source_of(keys, path, name);
  keys.reject_mixed_layers();
  keys.reject_unknown_sizes();
  if (!keys.problems().empty()) return Unexpected(keys.problems());
  // JSON is valid YAML, and this is the form that the reader expects.
  return R"({"schema":"tiersim.model/v1",)" + canonical_json(model).substr(1);
}

}  // namespace tiersim
