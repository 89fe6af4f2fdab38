// Cases of latent_decode_wgmma: MLA, TPLA and GLA shards on Hopper's tensor cores.
#pragma once
#include <memory>

#include "kernels/cases/case.hpp"
#include "kernels/cases/latent_problem.hpp"
#include "kernels/device/mistakes.hpp"

namespace tiersim::kernels {

// latent_dim 256 or 512, rope_dim 64, heads a multiple of 16. splits: blocks over the tokens of a
// sequence; 0: the number that fills the card best. Throws std::invalid_argument for other shapes.
std::unique_ptr<Case> make_latent_wgmma(const LatentShape& shape, int splits = 0);

// The same with a planted mistake, for tests. A mistake that the kernel does not support has no
// effect.
std::unique_ptr<Case> make_broken_latent_wgmma(const LatentShape& shape, int splits,
                                               Mistake mistake);

void add_latent_wgmma_cases(CaseList& cases, Sizes sizes);

}  // namespace tiersim::kernels
