#pragma once
// Piecewise linear surfaces over a grid of knots, as sparse rows of weights.
#include <utility>
#include <vector>

#include <boost/container/static_vector.hpp>

namespace tiersim {

/// Weights of a point in a surface: pairs of a column and its weight; all others are 0.
/// Room for the product of three hats.
using SurfaceRow = boost::container::static_vector<std::pair<int, double>, 8>;

/// The surface at a point: the sum of weights times coefficients.
double surface_at(const SurfaceRow& row, const std::vector<double>& coefficients);

/// Piecewise linear weights of the knots around x, constant beyond the ends. Knots ascend.
SurfaceRow hat_weights(double x, const std::vector<double>& knots);

/// The weights of a product of two surfaces: column i * columns_b + j.
SurfaceRow tensor(const SurfaceRow& a, const SurfaceRow& b, int columns_b);

/// Logarithm to the base 2; x > 0. Portable arithmetic.
double log2_of(double x);

}  // namespace tiersim
