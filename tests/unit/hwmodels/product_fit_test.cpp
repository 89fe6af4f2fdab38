// Planted truth: times made by the model itself, which the fit must find again.
#include "hwmodels/calibrate/fit/product_fit.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "sim/base/portable_math.hpp"
#include "sim/base/rng.hpp"

namespace tiersim::product_fit_test {
namespace {

const ProductGpu kGpu{.memory = 4.8e12, .peak = 989e12, .l2_bytes = 50e6, .sms = 132};

std::vector<double> planted() {
  return {3e-6, 0.8, 0.85, 0.2, 5e-8, 2e-6, 0.4, 0.9, 3, 1.5, 1.2, 1};
}

std::vector<ProductCase> products(double input_bytes = 2, bool quantises = false) {
  std::vector<ProductCase> out;
  for (const double n : {512., 1024., 2048., 4096., 6144., 8192., 12288., 16384.})
    for (const double k : {512., 1024., 2048., 4096., 7168., 8192., 16384.})
      for (const double m :
           {1., 4., 16., 48., 64., 100., 128., 200., 256., 512., 1024., 4096., 8192.})
        out.push_back({.m = m,
                       .n = n,
                       .k = k,
                       .weight_bytes = input_bytes,
                       .input_bytes = input_bytes,
                       .quantises = quantises,
                       .copies = std::min(5.0, std::ceil(kGpu.l2_bytes / (input_bytes * n * k)))});
  return out;
}

std::vector<ProductTiming> timings(double noise, const ProductModel& model) {
  Rng rng(7, "noise of products");
  std::vector<ProductTiming> out;
  for (const ProductCase& product : products())
    out.push_back({product, product_time(product, kGpu, model) *
                                portable_exp(noise * (2 * rng.uniform() - 1))});
  return out;
}

TEST(ProductModel, IsTheFloorForAProductOfOneTileAndTheRooflineForLargeOnes) {
  const std::vector<double> p = planted();
  const ProductCase small{.m = 1, .n = 512, .k = 512};
  EXPECT_GT(product_physics(small, kGpu, p, ProductTiles::library), 3e-6);
  EXPECT_LT(product_physics(small, kGpu, p, ProductTiles::library), 5e-6);
  // 2 * 8192^3 operations at .85 of the peak, and up to a third more for edges, slices and waves.
  const ProductCase large{.m = 8192, .n = 8192, .k = 8192};
  const double least = 2 * 8192. * 8192. * 8192. / (0.85 * kGpu.peak);
  const double time = product_physics(large, kGpu, p, ProductTiles::library);
  EXPECT_GT(time, least);
  EXPECT_LT(time, 1.33 * least);
  // 2 * 16384^2 bytes at .8 of the memory's rate, behind the floor. Tiles of 64 rows take less than
  // half of that time, which counts for at most (1 + .5^3)^(1/3) = 1.04 at p = 3.
  const ProductCase thin{.m = 1, .n = 16384, .k = 16384};
  const double bytes = 2 * 16384. * 16384. / (0.8 * kGpu.memory);
  const double thin_time = product_physics(thin, kGpu, p, ProductTiles::library);
  EXPECT_GT(thin_time, 3e-6 + bytes);
  EXPECT_LT(thin_time, 3e-6 + 1.04 * bytes);
}

TEST(ProductModel, NeverTakesLessTimeForMoreRowsThanATileNeeds) {
  for (double m = 1; m < 64; ++m) {
    const ProductCase few{.m = m, .n = 4096, .k = 4096};
    ProductCase more = few;
    more.m = 64;
    EXPECT_LE(product_physics(few, kGpu, planted(), ProductTiles::few),
              product_physics(more, kGpu, planted(), ProductTiles::few));
  }
}

TEST(ProductModel, FindsSmallWeightsInL2OnlyWhereTheirCopiesFit) {
  ProductCase product{.m = 1, .n = 2048, .k = 2048, .copies = 5};  // 42 MB of 50
  const double inside = product_physics(product, kGpu, planted(), ProductTiles::library);
  product.copies = 0;
  EXPECT_LT(inside, product_physics(product, kGpu, planted(), ProductTiles::library));
}

TEST(ProductFit, FindsPlantedTimesOfShapesThatItDidNotSee) {
  const ProductFit fit = fit_product(timings(0, {.parameters = planted()}), kGpu);
  EXPECT_EQ(fit.rows, 8 * 7 * 13);
  EXPECT_LT(fit.unseen.median, 0.005);
  EXPECT_LT(fit.unseen.p90, 0.02);
  EXPECT_NEAR(fit.model.parameters[0] * 1e6, 3, 0.1);
  EXPECT_EQ(fit.model.tiles, ProductTiles::library);
}

// Noise is uniform within 6 %, so its median size is 3 %, and nothing can be closer.
TEST(ProductFit, IsAsCloseAsTheNoiseAndNoCloser) {
  const ProductFit fit = fit_product(timings(0.06, {.parameters = planted()}), kGpu);
  EXPECT_GT(fit.unseen.median, 0.025);
  EXPECT_LT(fit.unseen.median, 0.04);
  EXPECT_LE(fit.fitted.median, fit.unseen.median);
}

TEST(ProductFit, HidesNoShiftOfARangeBehindItsSurface) {
  std::vector<ProductTiming> shifted = timings(0, {.parameters = planted()});
  for (ProductTiming& timing : shifted)
    if (timing.product.m > 128 && timing.product.m <= 256) timing.seconds *= 1.3;
  const ProductFit fit = fit_product(shifted, kGpu);
  EXPECT_LT(fit.unseen.median, 0.02);  // the surface takes the range by itself
  EXPECT_LT(fit.unseen.p90, 0.08);
}

TEST(ProductFit, DoesNotDependOnTheOrderOfTheRows) {
  std::vector<ProductTiming> rows = timings(0.03, {.parameters = planted()});
  const ProductFit one = fit_product(rows, kGpu);
  std::ranges::reverse(rows);
  const ProductFit other = fit_product(rows, kGpu);
  EXPECT_EQ(one.model.parameters, other.model.parameters);
  EXPECT_EQ(one.model.surface, other.model.surface);
  EXPECT_EQ(one.unseen.median, other.unseen.median);
}

TEST(FitParameters, StaysWithinItsRanges) {
  const std::vector<double> log_seconds(20, portable_log(5.0));
  const auto found = fit_parameters({{1, 0.5, 2}},
                                    [](const std::vector<double>& p, std::vector<double>& seconds) {
                                      std::fill(seconds.begin(), seconds.end(), p[0]);
                                    },
                                    log_seconds, {.huber = 0.1, .iterations = 50});
  EXPECT_NEAR(found[0], 2, 1e-9);
}

TEST(FitSurface, GoesThroughPointsAndPassesByAnOutlier) {
  std::vector<SurfaceRow> rows;
  std::vector<double> values;
  for (int i = 0; i <= 40; ++i) {
    rows.push_back(hat_weights(i / 10.0, {0, 2, 4}));
    values.push_back(0.1 * i / 10.0);
  }
  values[20] += 3;
  const std::vector<double> c = fit_surface(rows, values, 3, 0.01, 1e-6);
  EXPECT_NEAR(c[0], 0, 0.01);
  EXPECT_NEAR(c[1], 0.2, 0.01);
  EXPECT_NEAR(c[2], 0.4, 0.01);
}

}  // namespace
}  // namespace tiersim::product_fit_test
