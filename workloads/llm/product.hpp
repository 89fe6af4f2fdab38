#pragma once
// A matrix product of a layer, by its widths.
#include <cstdint>
#include <numeric>
#include <vector>

namespace tiersim {

/// One matrix product, with 2 * weights FLOPs for each token. `weights` does not count biases.
struct Product {
  std::int64_t in = 0;        ///< width of the input
  std::int64_t out = 0;       ///< width of the product
  std::int64_t produced = 0;  ///< width of the stored output; less than `out` for a fused gate
  std::int64_t weights = 0;   ///< in * out; less where each head multiplies with its own block
  bool of_heads = false;      ///< one kernel multiplies each head with its own block (MLA)

  friend bool operator==(const Product&, const Product&) = default;
};

/// A product with every pair of input and output.
inline Product full_product(std::int64_t in, std::int64_t out) {
  return {.in = in, .out = out, .produced = out, .weights = in * out};
}

/// Weights of all of them.
inline std::int64_t weights_of(const std::vector<Product>& products) {
  return std::accumulate(products.begin(), products.end(), std::int64_t{0},
                         [](std::int64_t sum, const Product& p) { return sum + p.weights; });
}

}  // namespace tiersim
