// One T5 v1.1 decoder layer for one new token of one sequence, in float64.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tiersim::kernels {

// Matrices are [rows][columns] bf16 bits, with the gains of the norms folded in.
struct LayerWeights {
  const std::uint16_t* qkv;       // [3 inner][depth]: queries, keys, values
  const std::uint16_t* self_out;  // [depth][inner]
  const std::uint16_t* cross_query;
  const std::uint16_t* cross_out;
  const std::uint16_t* gate;    // [wide][depth]
  const std::uint16_t* linear;  // [wide][depth]
  const std::uint16_t* wide_out;
};
struct LayerSizes {
  std::size_t depth = 0;
  std::size_t wide = 0;
  std::size_t heads = 0;  // each of 64 numbers
  double epsilon = 0;
};
// Cached tokens of one sequence: [heads][capacity][64].
struct LayerCache {
  const std::uint16_t* keys;
  const std::uint16_t* values;
  std::size_t capacity;
  std::size_t length;  // cached tokens without the new one
};
struct LayerResult {
  std::vector<double> state;  // [depth]
  std::vector<double> key;    // [inner], of the new token
  std::vector<double> value;
};

// bias: [heads][capacity of self], by distance from the new token.
LayerResult layer_reference(const LayerWeights& weights, const LayerSizes& sizes,
                            const std::uint16_t* state, const LayerCache& self, const float* bias,
                            const LayerCache& cross);

// Attention of one head, without scaling of the scores. rows: keys and values, each a row of 64.
std::vector<double> attend_reference(const std::vector<double>& query,
                                     const std::vector<std::vector<double>>& keys,
                                     const std::vector<std::vector<double>>& values,
                                     const std::vector<double>& biases);

// The index of the learned bias, of 32, for a distance in a T5 decoder (Raffel et al. 2020, section
// 2.1: exact below 16, then by the logarithm up to 128).
int relative_bucket(int distance);

double gelu_reference(double x);  // the tanh form

}  // namespace tiersim::kernels
