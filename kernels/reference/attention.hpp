// Attention of one query over one sequence in float64.
#pragma once
#include <cstddef>
#include <vector>

namespace tiersim::kernels::reference {

// Rows of a matrix in memory: row t begins at data + t * stride.
struct Rows {
  const float* data;
  std::size_t stride;
};

// softmax(scale query . keys[t], t < length) . values: a row of value_dim numbers; zeros for length
// 0.
std::vector<double> attention(const float* query, Rows keys, Rows values, std::size_t length,
                              std::size_t key_dim, std::size_t value_dim, double scale);

}  // namespace tiersim::kernels::reference
