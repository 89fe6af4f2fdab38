#include "workloads/llm/shared_kv_config.hpp"

namespace tiersim {

void describe(Fields& f, SharedKvConfig& c) {
  f.doc("One cached row of head_dim elements, which all heads read as key and as value.");
  f.required("q_lora_rank", c.q_lora_rank, "Width of the query latent.", in_range(1, 100'000));
  f.required("rope_head_dim", c.rope_head_dim, "Rotary elements of a row.", in_range(1, 4096));
  f.optional("output_groups", c.output_groups,
             "Groups of heads, which the first product of the output projection joins each.",
             in_range(1, 4096));
  f.required("output_rank", c.output_rank, "Width that it joins the heads of a group to.",
             in_range(1, 100'000));
}

}  // namespace tiersim
