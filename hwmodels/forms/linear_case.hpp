#pragma once
// Sizes of linear attention, which the forms of its kernels share: update_form of one or a few new
// tokens of a sequence, and scan_form of a whole prompt.
#include <array>
#include <vector>

#include "hwmodels/forms/kernel_form.hpp"

namespace tiersim {

struct LinearCase {
  double sequences = 1;
  double tokens = 1;        ///< new ones of a sequence
  double decode = 1;        ///< 1: one after the other, as a step does; 0: by chunks
  double key_heads = 16;    ///< of queries and keys
  double value_heads = 32;  ///< each with a state of key_dim x value_dim
  double key_dim = 128;
  double value_dim = 128;
  double state_bytes = 4;  ///< of an element of the state
  double by_element = 0;   ///< 1: decay by element of the key (Kimi Delta Attention)

  double states() const { return sequences * value_heads; }
  /// Bytes of the state of all sequences.
  double held() const { return states() * key_dim * value_dim * state_bytes; }
  /// Bytes of queries, keys, values and results of all tokens, in bf16, and of a decay by element.
  double activations() const {
    const double keys = (2 + by_element) * key_heads * key_dim;
    return 2 * sequences * tokens * (keys + 2 * value_heads * value_dim);
  }
  std::vector<double> sizes() const {
    return {sequences, tokens,    decode,      key_heads, value_heads,
            key_dim,   value_dim, state_bytes, by_element};
  }
  static LinearCase of(KernelSizes s) {
    return {s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8]};
  }
};

inline constexpr std::array<FormSize, 9> kLinearSizes{
    FormSize{"sequences", "Sequences."},
    {"tokens", "New tokens of a sequence."},
    {"decode", "1: token after token, by the kernel of a step; 0: by chunks."},
    {"key_heads", "Heads of queries and keys."},
    {"value_heads", "Heads of values, each with a state."},
    {"key_dim", "Width of a key."},
    {"value_dim", "Width of a value."},
    {"state_bytes", "Bytes of an element of the state."},
    {"by_element", "1 where each element of a key decays by itself, 0 where a head does."}};

}  // namespace tiersim
