#include "workloads/llm/mla_config.hpp"

namespace tiersim {

void describe(Fields& f, MlaConfig& c) {
  f.doc(
      "Multi-head latent attention: the cache holds one latent and one rotary key for all heads.");
  f.optional("q_lora_rank", c.q_lora_rank,
             "Width of the query latent; 0 where queries come from the hidden state.",
             in_range(0, 100'000));
  f.required("kv_lora_rank", c.kv_lora_rank, "Width of the cached latent.", in_range(1, 100'000));
  f.required("qk_nope_head_dim", c.qk_nope_head_dim,
             "Width of a head's key without rotary embedding.", in_range(1, 4096));
  f.required("qk_rope_head_dim", c.qk_rope_head_dim, "Width of the rotary key, one for all heads.",
             in_range(1, 4096));
  f.required("v_head_dim", c.v_head_dim, "Width of a head's value.", in_range(1, 4096));
  f.optional("latent_heads", c.latent_heads,
             "Equal parts of the latent, each for its own group of heads (GLA); 1: MLA.",
             in_range(1, 4096));
  f.check(c.kv_lora_rank % c.latent_heads == 0, "latent_heads", "does not divide kv_lora_rank",
          "latent heads are equal");
}

}  // namespace tiersim
