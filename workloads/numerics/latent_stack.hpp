#pragma once
// Layers of latent attention with a residual stream, run exactly or in slices over a cache that
// either mode has written, as the separation of prefill from decode needs it (TPLA, section 4.5).
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

/// Hidden states after the layers, each of which adds attention(x over its root mean square) to x.
/// states: the next tokens x hidden. cache: one for each layer, appended to; empty at the start.
Matrix run_stack(const std::vector<LatentLayer>& layers, const Matrix& states, Mode mode,
                 std::vector<LatentRows>& cache);

/// Input of a layer's attention: every row over its root mean square.
Matrix attention_input(const Matrix& states);

}  // namespace tiersim::numerics
