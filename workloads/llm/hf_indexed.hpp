#pragma once
// Families of Hugging Face models in which an indexer chooses what attention reads.
namespace tiersim {

class HfKeys;
struct LlmConfig;

/// DeepSeek-V3.2: latent attention with an indexer in every layer.
void read_deepseek_v32(HfKeys& keys, LlmConfig& c);
/// GLM-5 and GLM-5.2: the same, where layers may share an indexer.
void read_glm_moe_dsa(HfKeys& keys, LlmConfig& c);
/// MiniMax-M3: grouped queries with an indexer of blocks in some layers.
void read_minimax_m3(HfKeys& keys, LlmConfig& c);

}  // namespace tiersim
