// Work of kernels/device/append_latent.cuh by formula.
#pragma once
#include "kernels/cases/work.hpp"

namespace tiersim::kernels {

// in_bytes: size of a number of the new tokens, 2 or 4.
constexpr Work append_latent_work(std::int64_t latent, std::int64_t rope, std::int64_t batch,
                                  std::int64_t in_bytes, bool paged) {
  const std::int64_t place = paged ? 8 : 4;  // the length and the page
  Work work;
  work.read_bytes = batch * ((latent + rope) * in_bytes + place) + 2 * latent;
  work.written_bytes = batch * (latent + rope) * 2;
  // Each token's warp loads the weights, and each of its lanes loads the position.
  work.requested_bytes =
      batch * ((latent + rope) * in_bytes + 2 * latent + 32 * place) + work.written_bytes;
  work.flops = 2 * latent * batch;
  work.issued_flops = work.flops;
  return work;
}

}  // namespace tiersim::kernels
