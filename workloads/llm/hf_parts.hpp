#pragma once
// Readers of keys that several families of Hugging Face configuration files have in common.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/llm/hf_keys.hpp"
#include "workloads/llm/llm_config.hpp"

namespace tiersim {

inline constexpr std::string_view kNullHint = "write null where there is none";

void read_stack(HfKeys& keys, LlmConfig& c);
void read_heads(HfKeys& keys, LlmConfig& c);
/// Reports biases that a flag adds.
void refuse_biases(HfKeys& keys);
/// Routed experts, under either of two names.
std::int64_t read_experts(HfKeys& keys);
void read_latent_attention(HfKeys& keys, LlmConfig& c);
/// `method` is the default of the router's method.
void read_deepseek(HfKeys& keys, LlmConfig& c, const std::string& method);

/// The shortest list that repeats to this one.
template <class Type>
std::vector<Type> shortest_period(const std::vector<Type>& types) {
  for (std::size_t period = 1; period < types.size(); ++period) {
    bool repeats = true;
    for (std::size_t i = period; i < types.size() && repeats; ++i)
      repeats = types[i] == types[i - period];
    if (repeats) return {types.begin(), types.begin() + static_cast<std::ptrdiff_t>(period)};
  }
  return types;
}

}  // namespace tiersim
