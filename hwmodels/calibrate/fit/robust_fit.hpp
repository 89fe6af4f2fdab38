#pragma once
// Two robust fits of log time that any model of a kernel can use: of its parameters, and of a
// smooth surface over what the parameters leave. Both weight a residual r by min(1, d / |r|)
// (Huber), so that a few odd rows do not bend the rest, and both give the same bits every time.
#include <functional>
#include <vector>

#include "hwmodels/forms/kernel_form.hpp"

namespace tiersim {

struct DescentOptions {
  double huber = 0.08;  ///< residuals of log time beyond this count linearly
  int iterations = 10;
};

/// Times of all rows for these parameters [s].
using ModelTimes =
    std::function<void(const std::vector<double>& parameters, std::vector<double>& seconds)>;

/// Levenberg and Marquardt's descent over the logarithms of the parameters, within their ranges.
/// `log_seconds` are the logarithms of the measured times.
std::vector<double> fit_parameters(const std::vector<FormParameter>& parameters,
                                   const ModelTimes& times, const std::vector<double>& log_seconds,
                                   const DescentOptions& options = {});

/// Coefficients c that minimise the Huber loss of `residuals` less the surface, plus `penalty`
/// times the mean weight of a row times |c|^2.
std::vector<double> fit_surface(const std::vector<SurfaceRow>& rows,
                                const std::vector<double>& residuals, int columns,
                                double huber = 0.04, double penalty = 1e-3);

}  // namespace tiersim
