#pragma once
// Hyper-connections in place of the residual stream (arXiv 2409.19606; with the constraints of
// DeepSeek-V4, arXiv 2606.19348, section 2.2). A layer keeps several streams of the model's width.
// Before each sublayer a product with all of them gives the weights by which they are joined to its
// input, by which its output is added to each, and by which they are mixed.
#include <cstdint>

#include "sim/config/fields.hpp"

namespace tiersim {

struct HyperConfig {
  std::int64_t streams = 0;

  /// Outputs of that product: weights of the input, of the output, and of the mixture.
  std::int64_t mixed() const { return (2 + streams) * streams; }
  /// All weights of a sublayer: the product, a bias for each output and three scales.
  std::int64_t parameters(std::int64_t hidden) const {
    return mixed() * (streams * hidden + 1) + 3;
  }
  /// Those of what joins the streams before the head.
  std::int64_t head_parameters(std::int64_t hidden) const {
    return streams * (streams * hidden + 1) + 1;
  }

  friend bool operator==(const HyperConfig&, const HyperConfig&) = default;
};
void describe(Fields& f, HyperConfig& c);

}  // namespace tiersim
