#include "workloads/llm/moe_config.hpp"

#include "sim/base/check.hpp"

namespace tiersim {
namespace {

// Power by repeated squaring, so that all C libraries give the same last bit.
double whole_power(double base, std::int64_t exponent) {
  double result = 1.0;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) result *= base;
    base *= base;
  }
  return result;
}

}  // namespace

void describe(Fields& f, MoeConfig& c) {
  f.doc("Mixture of experts in place of the MLP.");
  f.required("experts", c.experts, "Routed experts of a layer.", in_range(1, 4096));
  f.required("experts_per_token", c.experts_per_token, "Routed experts that a token passes.",
             in_range(1, 4096));
  f.optional("shared_experts", c.shared_experts, "Experts that every token passes.",
             in_range(0, 4096));
  f.required("expert_intermediate", c.expert_intermediate, "Width of the MLP of one expert.",
             in_range(1, 100'000));
  f.optional("shared_intermediate", c.shared_intermediate,
             "Width of the MLP of one shared expert; that of the others where it is left out.",
             in_range(1, 100'000));
  f.optional("latent", c.latent,
             "Width that routed experts read and write; that of the residual stream where it is "
             "left out.",
             in_range(1, 100'000));
  f.optional("latent_norm", c.latent_norm, "True where that width has a norm.");
  f.optional("dense_layers", c.dense_layers, "First layers that have a plain MLP instead.",
             in_range(0, 1000));
  f.optional("every", c.every,
             "Of the layers after these, the last one of this many has experts (Llama 4: 2).",
             in_range(1, 1000));
  f.optional("router_bias", c.router_bias, "True where the router has a bias for each expert.");
  f.optional("expert_bias", c.expert_bias, "True where the products of an expert have biases.");
  f.optional("shared_gate", c.shared_gate,
             "True where a product with one output gates the shared expert.");
  f.optional(
      "hash_layers", c.hash_layers,
      "First layers whose experts a table gives for each entry of the vocabulary; the router "
      "only weighs them.",
      in_range(1, 1000));
  f.optional("removed", c.removed,
             "Layers with experts have no MLP at all, so that attention can be timed alone.");
  f.check(!c.shared_intermediate || c.shared_experts > 0, "shared_intermediate",
          "is of no expert: there are no shared_experts", "leave it out");
  f.check(c.latent || !c.latent_norm, "latent_norm", "is of no width: latent is missing",
          "leave it out");
  f.check(c.experts_per_token <= c.experts, "experts_per_token", "is above experts",
          "a token cannot pass more experts than there are");
}

// The number of unreached experts, U = (E - k) ((E - k) / E)^(tokens - 1), is rounded down. U is a
// whole number for a few small token counts at most. There it is computed in whole numbers, since a
// rounding error would cost an expert. After the first fractional U there is no further whole one,
// and the error of the power, below 1e-10 of U until U < 1, matters only that close to a whole
// number.
std::int64_t expected_experts(const MoeConfig& moe, std::int64_t tokens) {
  const std::int64_t all = moe.experts;
  const std::int64_t missed = all - moe.experts_per_token;
  TS_EXPECTS(all >= 1 && missed >= 0 && missed < all && tokens >= 0, all, missed, tokens);
  if (tokens == 0) return 0;
  std::int64_t unreached = missed;
  std::int64_t left = tokens - 1;
  for (; left > 0 && unreached > 0 && unreached * missed % all == 0; --left)
    unreached = unreached * missed / all;
  const double power = whole_power(static_cast<double>(missed) / static_cast<double>(all), left);
  return all - static_cast<std::int64_t>(static_cast<double>(unreached) * power);
}

}  // namespace tiersim
