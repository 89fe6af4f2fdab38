#include "kernels/reference/rms_norm.hpp"

#include <cmath>
#include <cstddef>

namespace tiersim::kernels::reference {

std::vector<double> rms_norm(const std::vector<float>& slice, const std::vector<float>& weight,
                             double factor, double epsilon) {
  double squares = 0;
  for (const float x : slice) squares += double{x} * double{x};
  const double mean = squares / static_cast<double>(slice.size());
  std::vector<double> out;
  for (std::size_t i = 0; i < slice.size(); ++i) {
    out.push_back(double{slice[i]} * double{weight[i]} / std::sqrt(factor * mean + epsilon));
  }
  return out;
}

}  // namespace tiersim::kernels::reference
