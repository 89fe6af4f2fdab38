// Sharded attention over latent caches, and the other work of a shard.
//   latent.latent_decode.mma_sync[.paged].*   MLA, TPLA, GLA-2 by heads and dimensions
//   latent.append_latent.<bf16, fp32>.*           RMSNorm of a slice and append to the cache
//   latent.join_shards.*                      sum of two partial outputs
#pragma once
#include "kernels/cases/case.hpp"

namespace tiersim::kernels {

void add_latent_cases(CaseList& cases, Sizes sizes);

}  // namespace tiersim::kernels
