#pragma once
// Families of Hugging Face models in which some layers have linear attention.
namespace tiersim {

class HfKeys;
struct LlmConfig;

/// Qwen3-Next and Qwen3.5: gated delta nets beside full attention with an output gate.
void read_qwen3_next(HfKeys& keys, LlmConfig& c);
/// Kimi Linear and the language model of Kimi K3: Kimi Delta Attention beside latent attention.
void read_kimi_linear(HfKeys& keys, LlmConfig& c);
/// Nemotron-H and Nemotron 3: Mamba-2, attention, MLP and experts as layers of their own.
void read_nemotron_h(HfKeys& keys, LlmConfig& c);
/// Granite 4.0 H: Mamba-2 beside full attention, each before experts and a shared MLP.
void read_granite_hybrid(HfKeys& keys, LlmConfig& c);

}  // namespace tiersim
