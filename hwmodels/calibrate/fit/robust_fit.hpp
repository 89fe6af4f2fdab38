#pragma once
// Two robust fits of log time that any model of a kernel can use: of its parameters, and of a
// smooth surface over what the parameters leave. Both weight a residual r by min(1, d / |r|)
// (Huber), so that a few odd rows do not bend the rest, and both give the same bits every time.
#include <functional>
#include <utility>
#include <vector>

namespace tiersim {

/// A positive parameter of a model, with the range that physics allows.
struct FitParameter {
  double start = 1;
  double low = 0;
  double high = 0;
};

struct DescentOptions {
  double huber = 0.08;  ///< residuals of log time beyond this count linearly
  int iterations = 10;
};

/// Times of all rows for these parameters [s].
using ModelTimes =
    std::function<void(const std::vector<double>& parameters, std::vector<double>& seconds)>;

/// Levenberg and Marquardt's descent over the logarithms of the parameters, within their ranges.
/// `log_seconds` are the logarithms of the measured times.
std::vector<double> fit_parameters(const std::vector<FitParameter>& parameters,
                                   const ModelTimes& times, const std::vector<double>& log_seconds,
                                   const DescentOptions& options = {});

/// Weights of a row in the surface: pairs of a column and its weight; all others are 0.
using SurfaceRow = std::vector<std::pair<int, double>>;

/// Coefficients c that minimise the Huber loss of `residuals` less the surface, plus `penalty`
/// times the mean weight of a row times |c|^2.
std::vector<double> fit_surface(const std::vector<SurfaceRow>& rows,
                                const std::vector<double>& residuals, int columns,
                                double huber = 0.04, double penalty = 1e-3);

/// The surface at a row.
double surface_at(const SurfaceRow& row, const std::vector<double>& coefficients);

/// Piecewise linear weights of the knots around x, constant beyond the ends. Knots ascend.
SurfaceRow hat_weights(double x, const std::vector<double>& knots);

/// The weights of a product of two surfaces: column i * columns_b + j.
SurfaceRow tensor(const SurfaceRow& a, const SurfaceRow& b, int columns_b);

}  // namespace tiersim
