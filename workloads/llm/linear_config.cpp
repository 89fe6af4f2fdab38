#include "workloads/llm/linear_config.hpp"

#include "sim/base/check.hpp"

namespace tiersim {

std::vector<Product> LinearConfig::projections_in(std::int64_t hidden) const {
  const std::int64_t gated = conv_width() + value_width();
  switch (kind) {
    case LinearKind::gated_delta_net:  // the gate, then step size and decay of each head
      return {full_product(hidden, gated), full_product(hidden, 2 * value_heads)};
    case LinearKind::kimi_delta: {
      std::vector<Product> out{full_product(hidden, conv_width()),
                               full_product(hidden, value_heads), full_product(hidden, gate_rank),
                               full_product(gate_rank, key_width())};
      if (full_gate) {
        out.push_back(full_product(hidden, value_width()));
      } else {
        out.push_back(full_product(hidden, gate_rank));
        out.push_back(full_product(gate_rank, value_width()));
      }
      return out;
    }
    case LinearKind::mamba2:
      return {full_product(hidden, gated + value_heads)};
  }
  return {};
}

std::vector<Product> LinearConfig::projections_out(std::int64_t hidden) const {
  return {full_product(value_width(), hidden)};
}

std::int64_t LinearConfig::vectors() const {
  const std::int64_t conv = conv_width() * (conv_kernel + (conv_bias ? 1 : 0));
  switch (kind) {
    case LinearKind::gated_delta_net:  // decay and its bias; one norm for all heads
      return conv + 2 * value_heads + value_head_dim;
    case LinearKind::kimi_delta:  // a bias of the decay for each element of a key
      return conv + value_heads + key_width() + value_head_dim;
    case LinearKind::mamba2:  // decay, its bias, and the share of the input that passes by
      return conv + 3 * value_heads + value_width();
  }
  return conv;
}

std::int64_t LinearConfig::parameters(std::int64_t hidden) const {
  return weights_of(projections_in(hidden)) + weights_of(projections_out(hidden)) + vectors();
}

std::int64_t LinearConfig::recurrent_flops() const {
  const std::int64_t passed_by = kind == LinearKind::mamba2 ? 2 * value_width() : 0;
  const std::int64_t corrected = kind == LinearKind::mamba2 ? 0 : 2;
  return state_elements() * (1 + corrected + 2 + 2) + passed_by;
}

// By value head and token: scores of the chunk's keys by its keys (delta rules) and of keys by
// queries; their products with keys and values, half of which the causal mask removes in neither
// case, since kernels compute whole tiles; then correction, answer and update of the state.
std::int64_t LinearConfig::chunked_flops() const {
  const std::int64_t key = key_head_dim;
  const std::int64_t value = value_head_dim;
  if (kind == LinearKind::mamba2)  // groups share the scores
    return 2 * chunk * key_width() + value_heads * (2 * chunk * value + 4 * key * value) +
           2 * value_width();
  return value_heads *
         (2 * chunk * (3 * key + 2 * value) + 6 * key * value + 2 * chunk * chunk / 3);
}

void describe(Fields& f, LinearConfig& c) {
  f.doc("Linear attention with a state of fixed size, in layers of type linear_attention.");
  f.required("kind", c.kind, kLinearKindNames, "How a state decays and learns.");
  f.required("key_heads", c.key_heads, "Heads of queries and keys; the groups of mamba2.",
             in_range(1, 4096));
  f.required("value_heads", c.value_heads, "Heads of values, each with a state.",
             in_range(1, 4096));
  f.required("key_head_dim", c.key_head_dim, "Width of a key; the state size of mamba2.",
             in_range(1, 4096));
  f.required("value_head_dim", c.value_head_dim, "Width of a value.", in_range(1, 4096));
  f.optional("conv_kernel", c.conv_kernel, "Positions under the convolution.", in_range(1, 64));
  f.optional("conv_bias", c.conv_bias, "True where the convolution has a bias.");
  f.optional("gate_rank", c.gate_rank,
             "Width between the two matrices of decay and output gate, under kimi_delta.",
             in_range(0, 100'000));
  f.optional("full_gate", c.full_gate,
             "True where the output gate is one matrix all the same, under kimi_delta.");
  f.optional("chunk", c.chunk, "Tokens that the kernels of a prefill work on together.",
             in_range(1, 4096));
  f.check(c.key_heads == 0 || c.value_heads % c.key_heads == 0, "key_heads",
          "does not divide value_heads", "every key serves the same number of value heads");
  f.check((c.kind == LinearKind::kimi_delta) == (c.gate_rank > 0), "gate_rank",
          c.gate_rank > 0 ? "is of kimi_delta only" : "is missing under kimi_delta",
          "the width of f_a_proj's output");
  f.check(c.kind == LinearKind::kimi_delta || !c.full_gate, "full_gate", "is of kimi_delta only",
          "leave it out");
}

}  // namespace tiersim
