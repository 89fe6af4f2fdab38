#pragma once
// Linear attention: a layer that keeps a state of fixed size for each sequence instead of keys and
// values for each position. Every value head has a matrix of key_head_dim x value_head_dim, which a
// token decays, corrects and reads; before that a short causal convolution over the last positions
// passes over queries, keys and values.
//
//   gated_delta_net  arXiv 2412.06464; Qwen3-Next and Qwen3.5. Decay and step size by head, an
//                    output gate as wide as the values
//   kimi_delta       Kimi Delta Attention, arXiv 2510.26692. Decay by element of the key; decay and
//                    output gate are products of two narrow matrices
//   mamba2           state-space duality, arXiv 2405.21060; Nemotron-H. Keys and queries are B and
//                    C, which the heads of a group share; the state is not corrected
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/config/fields.hpp"
#include "workloads/llm/product.hpp"

namespace tiersim {

enum class LinearKind : std::uint8_t { gated_delta_net, kimi_delta, mamba2 };
inline constexpr std::array<std::string_view, 3> kLinearKindNames{"gated_delta_net", "kimi_delta",
                                                                  "mamba2"};
constexpr std::string_view name(LinearKind kind) {
  return kLinearKindNames[static_cast<std::size_t>(kind)];
}

struct LinearConfig {
  LinearKind kind = LinearKind::gated_delta_net;
  std::int64_t key_heads = 0;    ///< of queries and keys; groups of mamba2
  std::int64_t value_heads = 0;  ///< with a state each; a multiple of key_heads
  std::int64_t key_head_dim = 0;
  std::int64_t value_head_dim = 0;
  std::int64_t conv_kernel = 4;  ///< positions under the convolution, the newest included
  bool conv_bias = false;
  std::int64_t gate_rank = 0;  ///< width between the two matrices of a gate, under kimi_delta
  bool full_gate = false;      ///< the output gate is one matrix all the same (Kimi K3)
  std::int64_t chunk = 64;     ///< tokens that the kernels of a prefill work on together

  std::int64_t key_width() const { return key_heads * key_head_dim; }
  std::int64_t value_width() const { return value_heads * value_head_dim; }
  /// Channels of the convolution: queries, keys and values.
  std::int64_t conv_width() const { return 2 * key_width() + value_width(); }

  /// Elements of one sequence's state in one layer: of all heads, and the inputs of the convolution
  /// from the positions before.
  std::int64_t state_elements() const { return value_heads * key_head_dim * value_head_dim; }
  std::int64_t conv_elements() const { return conv_width() * (conv_kernel - 1); }

  /// Products before and after it, of a model with this width of the residual stream.
  std::vector<Product> projections_in(std::int64_t hidden) const;
  std::vector<Product> projections_out(std::int64_t hidden) const;
  /// Weights that are no matrices: convolution, decay, step size, and the norm before the output.
  std::int64_t vectors() const;
  /// All weights of one layer, without the norm before it.
  std::int64_t parameters(std::int64_t hidden) const;

  /// Multiply-adds count as two. FLOPs for each token by all heads, where the state of each token
  /// follows from the one before: decay, correction by the state's own answer to the key (delta
  /// rules), the new key times value, and the answer to the query.
  std::int64_t recurrent_flops() const;
  /// The same by chunks of tokens, whose products with each other are matrices, with the inverse of
  /// a triangular matrix that delta rules need for each chunk.
  std::int64_t chunked_flops() const;

  friend bool operator==(const LinearConfig&, const LinearConfig&) = default;
};
void describe(Fields& f, LinearConfig& c);

}  // namespace tiersim
