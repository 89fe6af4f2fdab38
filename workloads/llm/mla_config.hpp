#pragma once
// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1). Keys and values of all
// heads are unpacked from one latent, and all heads share one rotary key; the cache holds these
// two. Decode multiplies queries with the key unpacking and outputs with the value unpacking
// ("absorbed"), so that every head attends over the latent itself and nothing is unpacked.
#include <cstdint>

#include "sim/config/fields.hpp"

namespace tiersim {

struct MlaConfig {
  std::int64_t q_lora_rank =
      0;  ///< width of the query latent; 0: queries are projected from the hidden state
  std::int64_t kv_lora_rank = 0;
  std::int64_t qk_nope_head_dim = 0;
  std::int64_t qk_rope_head_dim = 0;
  std::int64_t v_head_dim = 0;
  /// Parts of the latent, each for its own group of heads (GLA, arXiv 2505.21487).
  std::int64_t latent_heads = 1;
  /// True where the cache holds the keys and values of every head instead of the latent, and
  /// nothing is absorbed; set by a decode step that requires it.
  bool unpacked = false;

  /// Width of one head's reads of a position: its latent head, and the rotary key.
  std::int64_t head_latent() const { return kv_lora_rank / latent_heads; }
  std::int64_t qk_head_dim() const { return qk_nope_head_dim + qk_rope_head_dim; }
  /// Width of one row of the cache, for all heads.
  std::int64_t latent_width() const { return kv_lora_rank + qk_rope_head_dim; }

  friend bool operator==(const MlaConfig&, const MlaConfig&) = default;
};
void describe(Fields& f, MlaConfig& c);

}  // namespace tiersim
