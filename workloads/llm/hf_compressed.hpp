#pragma once
// The family of Hugging Face models whose cache has one row for several positions.
namespace tiersim {

class HfKeys;
struct LlmConfig;

/// DeepSeek-V4, by the keys of the published files (compress_ratios, num_hash_layers) or by those
/// of transformers (layer_types, compress_rates, mlp_layer_types).
void read_deepseek_v4(HfKeys& keys, LlmConfig& c);

}  // namespace tiersim
