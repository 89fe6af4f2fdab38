#pragma once
// Piecewise linear surfaces over a grid of knots, as sparse rows of weights.
#include <array>
#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

namespace tiersim {

/// Weights of a point in a surface: pairs of a column and its weight; all others are 0.
/// It holds them in place, because a draw of a fit's parameters computes thousands of rows.
class SurfaceRow {
 public:
  using Weight = std::pair<int, double>;

  SurfaceRow() = default;
  SurfaceRow(std::initializer_list<Weight> weights) {
    for (const auto& [column, weight] : weights) add(column, weight);
  }

  /// Throws std::out_of_range beyond the eight weights that a product of three hats has.
  void add(int column, double weight) { weights_.at(size_++) = {column, weight}; }

  std::size_t size() const { return size_; }
  Weight* begin() { return weights_.data(); }
  Weight* end() { return weights_.data() + size_; }
  const Weight* begin() const { return weights_.data(); }
  const Weight* end() const { return weights_.data() + size_; }

 private:
  std::array<Weight, 8> weights_{};
  std::size_t size_ = 0;
};

/// The surface at a point: the sum of weights times coefficients.
double surface_at(const SurfaceRow& row, const std::vector<double>& coefficients);

/// Piecewise linear weights of the knots around x, constant beyond the ends. Knots ascend.
SurfaceRow hat_weights(double x, const std::vector<double>& knots);

/// The weights of a product of two surfaces: column i * columns_b + j.
SurfaceRow tensor(const SurfaceRow& a, const SurfaceRow& b, int columns_b);

/// Logarithm to the base 2; x > 0. Portable arithmetic.
double log2_of(double x);

}  // namespace tiersim
