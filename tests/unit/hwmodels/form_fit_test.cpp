// Planted truth: times made by the model itself, which the fit must find again.
#include "hwmodels/calibrate/fit/form_fit.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hwmodels/calibrate/fit/robust_fit.hpp"
#include "hwmodels/forms/product_form.hpp"
#include "sim/base/portable_math.hpp"
#include "sim/base/rng.hpp"

namespace tiersim::form_fit_test {
namespace {

const GpuSheet kGpu{.memory = 4.8e12, .peak = 989e12, .l2_bytes = 50e6, .sms = 132};

constexpr std::size_t kFew = 1;

std::vector<double> planted() {
  return {3e-6, 0.8, 0.85, 0.2, 5e-8, 2e-6, 0.4, 0.9, 3, 1.5, 1.2, 1};
}

double physics(const ProductCase& product, std::size_t variant = 0) {
  return product_form().physics(product.sizes(), kGpu, planted(), variant);
}

std::vector<ProductCase> products(double input_bytes = 2, double quantises = 0) {
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

std::vector<FormTiming> timings(double noise) {
  Rng rng(7, "noise of products");
  std::vector<FormTiming> out;
  for (const ProductCase& product : products())
    out.push_back({product.sizes(), fmt::format("n {} k {}", product.n, product.k),
                   physics(product) * portable_exp(noise * (2 * rng.uniform() - 1))});
  return out;
}

TEST(ProductForm, IsTheFloorForAProductOfOneTileAndTheRooflineForLargeOnes) {
  const ProductCase small{.m = 1, .n = 512, .k = 512};
  EXPECT_GT(physics(small), 3e-6);
  EXPECT_LT(physics(small), 5e-6);
  // 2 * 8192^3 operations at .85 of the peak, and up to a third more for edges, slices and waves.
  const ProductCase large{.m = 8192, .n = 8192, .k = 8192};
  const double least = 2 * 8192. * 8192. * 8192. / (0.85 * kGpu.peak);
  const double time = physics(large);
  EXPECT_GT(time, least);
  EXPECT_LT(time, 1.33 * least);
  // 2 * 16384^2 bytes at .8 of the memory's rate, behind the floor. Tiles of 64 rows take less than
  // half of that time, which counts for at most (1 + .5^3)^(1/3) = 1.04 at p = 3.
  const ProductCase thin{.m = 1, .n = 16384, .k = 16384};
  const double bytes = 2 * 16384. * 16384. / (0.8 * kGpu.memory);
  const double thin_time = physics(thin);
  EXPECT_GT(thin_time, 3e-6 + bytes);
  EXPECT_LT(thin_time, 3e-6 + 1.04 * bytes);
}

TEST(ProductForm, NeverTakesLessTimeForMoreRowsThanATileNeeds) {
  for (double m = 1; m < 64; ++m) {
    const ProductCase few{.m = m, .n = 4096, .k = 4096};
    ProductCase more = few;
    more.m = 64;
    EXPECT_LE(physics(few, kFew), physics(more, kFew));
  }
}

TEST(ProductForm, FindsSmallWeightsInL2OnlyWhereTheirCopiesFit) {
  ProductCase product{.m = 1, .n = 2048, .k = 2048, .copies = 5};  // 42 MB of 50
  const double inside = physics(product);
  product.copies = 0;
  EXPECT_LT(inside, physics(product));
}

TEST(FormFit, FindsPlantedTimesOfShapesThatItDidNotSee) {
  const FormFit fit = fit_form(product_form(), timings(0), kGpu);
  EXPECT_EQ(fit.rows, 8 * 7 * 13);
  EXPECT_LT(fit.unseen.median, 0.005);
  EXPECT_LT(fit.unseen.p90, 0.02);
  EXPECT_NEAR(fit.model.parameters[0] * 1e6, 3, 0.1);
  EXPECT_EQ(fit.model.variant, 0U);
  EXPECT_EQ(fit.least, (std::vector<double>{1, 512, 512, 2, 2, 0, 1}));
  EXPECT_EQ(fit.most, (std::vector<double>{8192, 16384, 16384, 2, 2, 0, 5}));
}

// Noise is uniform within 6 %, so its median size is 3 %, and nothing can be closer.
TEST(FormFit, IsAsCloseAsTheNoiseAndNoCloser) {
  const FormFit fit = fit_form(product_form(), timings(0.06), kGpu);
  EXPECT_GT(fit.unseen.median, 0.025);
  EXPECT_LT(fit.unseen.median, 0.04);
  EXPECT_LE(fit.fitted.median, fit.unseen.median);
}

// The scatter holds 95 % of noise that is uniform within 6 %, 0.95 * 6 % at each end, and what five
// fits of fewer rows add.
TEST(FormFit, SaysHowFarUnseenTimesScatter) {
  const FormFit fit = fit_form(product_form(), timings(0.06), kGpu);
  EXPECT_NEAR(fit.scatter.low, 1 - 0.057, 0.02);
  EXPECT_NEAR(fit.scatter.high, 1 + 0.057, 0.02);
}

TEST(FormFit, JudgesNothingWhereThereIsOneShape) {
  std::vector<FormTiming> rows = timings(0.03);
  for (FormTiming& row : rows) row.shape = "one";
  const FormFit fit = fit_form(product_form(), rows, kGpu);
  EXPECT_EQ(fit.unseen.rows, 0);
  EXPECT_GT(fit.fitted.rows, 0);
}

TEST(FormFit, LeavesOutWhatTheFormIsNotMadeFor) {
  std::vector<FormTiming> rows = timings(0);
  rows.push_back({ProductCase{.m = 1, .n = 16, .k = 512}.sizes(), "small", 1});
  const FormFit fit = fit_form(product_form(), rows, kGpu);
  EXPECT_EQ(fit.outside, 1);
  EXPECT_LT(fit.unseen.median, 0.005);
}

TEST(FormFit, HidesNoShiftOfARangeBehindItsSurface) {
  std::vector<FormTiming> shifted = timings(0);
  for (FormTiming& timing : shifted)
    if (timing.sizes[0] > 128 && timing.sizes[0] <= 256) timing.seconds *= 1.3;
  const FormFit fit = fit_form(product_form(), shifted, kGpu);
  EXPECT_LT(fit.unseen.median, 0.02);  // the surface takes the range by itself
  EXPECT_LT(fit.unseen.p90, 0.08);
}

TEST(FormFit, DoesNotDependOnTheOrderOfTheRows) {
  std::vector<FormTiming> rows = timings(0.03);
  const FormFit one = fit_form(product_form(), rows, kGpu);
  std::ranges::reverse(rows);
  const FormFit other = fit_form(product_form(), rows, kGpu);
  EXPECT_EQ(one.model.parameters, other.model.parameters);
  EXPECT_EQ(one.model.surface, other.model.surface);
  EXPECT_EQ(one.unseen.median, other.unseen.median);
}

TEST(FitParameters, StaysWithinItsRanges) {
  const std::vector<double> log_seconds(20, portable_log(5.0));
  const auto found = fit_parameters({{"speed", 1, 0.5, 2}},
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
}  // namespace tiersim::form_fit_test
