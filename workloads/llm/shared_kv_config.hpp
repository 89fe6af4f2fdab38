#pragma once
// One cached row that all query heads read as key and as value (DeepSeek-V4, arXiv 2606.19348,
// section 2.3): queries come from a latent, the row from the residual stream, and the output
// projection goes through a narrow vector of each group of heads. Nothing is unpacked.
#include <cstdint>

#include "sim/config/fields.hpp"

namespace tiersim {

struct SharedKvConfig {
  std::int64_t q_lora_rank = 0;    ///< width of the query latent
  std::int64_t rope_head_dim = 0;  ///< rotary elements at the end of a row and of a query
  std::int64_t output_groups = 1;  ///< of heads, whose outputs one block of the projection joins
  std::int64_t output_rank = 0;    ///< width that it joins them to

  friend bool operator==(const SharedKvConfig&, const SharedKvConfig&) = default;
};
void describe(Fields& f, SharedKvConfig& c);

}  // namespace tiersim
