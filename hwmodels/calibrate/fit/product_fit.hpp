#pragma once
// Fit of product_model.hpp to timings of products, and its errors on shapes that it did not see.
//
//  const ProductFit fit = fit_product(timings, gpu);
//  fit.unseen.median  // of the absolute errors; a shape (n, k) is held out with all of its m
#include <cstdint>
#include <string>
#include <vector>

#include "hwmodels/calibrate/fit/product_model.hpp"

namespace tiersim {

struct ProductTiming {
  ProductCase product;
  double seconds = 0;
};

/// Errors of predictions, as (predicted - measured) / measured.
struct FitErrors {
  std::int64_t rows = 0;
  double median = 0;  ///< of the absolute errors
  double p90 = 0;     ///< 90th percentile of the absolute errors
  double bias = 0;    ///< median of the signed errors
};
FitErrors errors_of(const std::vector<double>& errors);

/// Rows whose sizes the model is made for: m up to 8192, n and k from 512 to 16384.
bool in_range_of_model(const ProductCase& product);

struct ProductFit {
  ProductModel model;
  std::int64_t rows = 0;     ///< that the fit used
  std::int64_t outside = 0;  ///< beyond the range of the model: neither fitted nor judged
  FitErrors fitted;          ///< of the fit on its own rows
  FitErrors unseen;          ///< of five fits, each on the shapes that it did not see
};

/// Fewest rows in range for a fit: two for each coefficient of model and surface.
inline constexpr std::int64_t kFewestProducts = 2 * (12 + kProductSurfaceColumns);

/// At least kFewestProducts timings in range. The same timings in any order give the same bits.
ProductFit fit_product(std::vector<ProductTiming> timings, const ProductGpu& gpu);

}  // namespace tiersim
