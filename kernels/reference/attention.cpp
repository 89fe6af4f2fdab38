#include "kernels/reference/attention.hpp"

#include <algorithm>
#include <cmath>

namespace tiersim::kernels::reference {

std::vector<double> attention(const float* query, Rows keys, Rows values, std::size_t length,
                              std::size_t key_dim, std::size_t value_dim, double scale) {
  std::vector<double> out(value_dim, 0.0);
  if (length == 0) return out;
  std::vector<double> scores(length);
  for (std::size_t t = 0; t < length; ++t) {
    const float* key = keys.data + t * keys.stride;
    double dot = 0;
    for (std::size_t d = 0; d < key_dim; ++d) dot += double{query[d]} * double{key[d]};
    scores[t] = dot * scale;
  }
  const double highest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (std::size_t t = 0; t < length; ++t) {
    const double weight = std::exp(scores[t] - highest);
    const float* value = values.data + t * values.stride;
    for (std::size_t d = 0; d < value_dim; ++d) out[d] += weight * double{value[d]};
    sum += weight;
  }
  for (double& v : out) v /= sum;
  return out;
}

}  // namespace tiersim::kernels::reference
