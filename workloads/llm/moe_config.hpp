#pragma once
// Mixture of experts in place of a layer's MLP: a router sends each token to some of the routed
// experts, and every token passes the shared experts.
#include <cstdint>
#include <optional>

#include "sim/config/fields.hpp"

namespace tiersim {

struct MoeConfig {
  std::int64_t experts = 0;  ///< routed experts of a layer
  std::int64_t experts_per_token = 0;
  std::int64_t shared_experts = 0;
  std::int64_t expert_intermediate = 0;  ///< width of one expert's MLP
  /// That of a shared one, where it differs (Nemotron 3).
  std::optional<std::int64_t> shared_intermediate = {};
  /// Width that routed experts read and write, between a product from the residual stream and one
  /// back to it (Nemotron 3 Super, Kimi K3).
  std::optional<std::int64_t> latent = {};
  bool latent_norm = false;       ///< a norm over that width (Kimi K3)
  std::int64_t dense_layers = 0;  ///< number of leading layers with a plain MLP
  std::int64_t every = 1;         ///< of the others, the last one of this many has experts
  bool router_bias = false;       ///< one for each expert (DeepSeek-V3: e_score_correction_bias)
  bool expert_bias = false;       ///< of every product of an expert (gpt-oss)
  bool shared_gate =
      false;  ///< a weight for each element decides how much of the shared expert counts
  /// Leading layers whose experts follow from the number of a token by a table (DeepSeek-V4).
  std::optional<std::int64_t> hash_layers = {};
  bool removed = false;  ///< layers with experts have no MLP at all, to time the rest

  std::int64_t shared_width() const { return shared_intermediate.value_or(expert_intermediate); }

  friend bool operator==(const MoeConfig&, const MoeConfig&) = default;
};
void describe(Fields& f, MoeConfig& c);

/// Experts of a layer that at least one of `tokens` tokens is expected to reach, rounded up: E (1 -
/// (1 - k/E)^tokens). Each token is assumed to pick its k of E experts uniformly and independently.
/// The balancing loss keeps trained routers close to that; skew would lower the count.
std::int64_t expected_experts(const MoeConfig& moe, std::int64_t tokens);

}  // namespace tiersim
