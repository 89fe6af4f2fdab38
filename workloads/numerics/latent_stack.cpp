#include "workloads/numerics/latent_stack.hpp"

namespace tiersim::numerics {

Matrix attention_input(const Matrix& states) {
  return rms_norm_rows(states, RowVector::Ones(states.cols()), 0);
}

Matrix run_stack(const std::vector<LatentLayer>& layers, const Matrix& states, Mode mode,
                 std::vector<LatentRows>& cache) {
  const bool fresh = cache.empty();
  cache.resize(layers.size());
  const Index first = fresh ? 0 : cache.front().tokens();
  Matrix out = states;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LatentLayer& layer = layers[i];
    const Matrix in = attention_input(out);
    const LatentRows rows = mode == Mode::exact
                                ? latent_rows(layer.weights, in, first)
                                : sliced_rows(layer.weights, layer.slicing, in, first);
    if (fresh) {
      cache[i] = rows;
    } else {
      cache[i].append(rows);
    }
    out += mode == Mode::exact
               ? absorbed_attention(layer.weights, in, cache[i], first)
               : sliced_attention(layer.weights, layer.slicing, in, cache[i], first);
  }
  return out;
}

}  // namespace tiersim::numerics
