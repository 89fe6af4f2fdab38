// RMSNorm of a slice of a vector in float64.
#pragma once
#include <vector>

namespace tiersim::kernels::reference {

// slice[i] weight[i] / sqrt(factor mean(slice^2) + epsilon), weight as long as the slice; the mean
// square of the whole vector is taken to be factor times that of the slice (1: plain RMSNorm).
std::vector<double> rms_norm(const std::vector<float>& slice, const std::vector<float>& weight,
                             double factor, double epsilon);

}  // namespace tiersim::kernels::reference
