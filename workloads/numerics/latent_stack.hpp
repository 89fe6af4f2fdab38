#pragma once
// Layers of latent attention with a residual stream, run exactly or sliced over a cache that either
// way may have written: what separating prefill from decode needs (TPLA, section 4.5).
//
//   std::vector<LatentRows> cache;
//   run_stack(layers, prompt, Mode::exact, cache);             // prefill as MLA
//   const Matrix out = run_stack(layers, token, Mode::sliced, cache);  // decode as TPLA
#include <vector>

#include "workloads/numerics/latent_slicing.hpp"

namespace tiersim::numerics {

struct LatentLayer {
  LatentWeights weights;  ///< gain absorbed, transform applied
  Slicing slicing;
};

enum class Mode { exact, sliced };

/// Hidden states after the layers: x + attention(x over its root mean square), one after the other.
/// states: the next tokens x hidden. cache: one a layer; it is appended to, and empty for none yet.
Matrix run_stack(const std::vector<LatentLayer>& layers, const Matrix& states, Mode mode,
                 std::vector<LatentRows>& cache);

/// What layer's attention reads: every row over its root mean square.
Matrix attention_input(const Matrix& states);

}  // namespace tiersim::numerics
