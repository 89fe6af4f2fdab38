#include "hwmodels/calibrate/fit/product_fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "hwmodels/calibrate/read/order_statistics.hpp"
#include "sim/base/check.hpp"
#include "sim/base/portable_math.hpp"
#include "sim/base/rng.hpp"

namespace tiersim {
namespace {

constexpr std::size_t kShapeFolds = 5;
constexpr std::size_t kDescentRows = 900;  // enough for 12 parameters; the surface takes all rows
constexpr double kBetterTiles = 0.98;      // the few tiles are taken where they are clearly better

// By ProductParameter. The ends are what hardware allows, with room: an empty kernel takes more
// than 0.2 us, no memory more than its data sheet by a fifth, no L2 eight times its memory.
const std::vector<FitParameter>& ranges() {
  static const std::vector<FitParameter> all{
      {2.5e-6, 2e-7, 5e-5}, {0.85, 0.2, 1.2},   {0.8, 0.1, 1.2}, {0.3, 0.01, 5},
      {6e-8, 1e-9, 1e-6},   {1e-6, 1e-8, 2e-5}, {0.7, 0.05, 1},  {0.7, 0.05, 1},
      {3, 1, 10},           {2, 1, 8},          {1.15, 1.02, 2}, {1, 0.05, 20}};
  return all;
}

std::uint64_t hash_of(const std::string& text) {
  return Rng(1, text).next();
}

// A shape (n, k) is in one fold with all of its m.
std::size_t fold_of(const ProductCase& product) {
  return hash_of(fmt::format("shape {} {}", product.n, product.k)) % kShapeFolds;
}

std::vector<FitParameter> starting_at(const std::vector<double>& parameters) {
  std::vector<FitParameter> out = ranges();
  for (std::size_t i = 0; i < parameters.size(); ++i)
    out[i].start = std::clamp(parameters[i], out[i].low, out[i].high);
  return out;
}

struct Sample {
  std::vector<ProductCase> products;
  std::vector<double> log_seconds;

  void add(const ProductTiming& timing) {
    products.push_back(timing.product);
    log_seconds.push_back(portable_log(timing.seconds));
  }
};

// A part of the rows, spread over all sizes.
Sample descent_rows(const std::vector<const ProductTiming*>& timings) {
  std::vector<std::pair<std::uint64_t, const ProductTiming*>> order;
  for (const ProductTiming* timing : timings) {
    const ProductCase& c = timing->product;
    order.emplace_back(hash_of(fmt::format("row {} {} {}", c.m, c.n, c.k)), timing);
  }
  std::ranges::sort(order, {}, &std::pair<std::uint64_t, const ProductTiming*>::first);
  Sample sample;
  for (std::size_t i = 0; i < std::min(order.size(), kDescentRows); ++i)
    sample.add(*order[i].second);
  return sample;
}

class Fitter {
 public:
  explicit Fitter(const ProductGpu& gpu) : gpu_(gpu) {}

  // Parameters by descent from `start`, then the surface over what they leave.
  ProductModel fit(const std::vector<const ProductTiming*>& timings, ProductTiles tiles,
                   const std::vector<double>& start, int iterations) const {
    ProductModel model;
    model.tiles = tiles;
    const Sample sample = descent_rows(timings);
    const auto times = [&](const std::vector<double>& parameters, std::vector<double>& seconds) {
      for (std::size_t i = 0; i < seconds.size(); ++i)
        seconds[i] = product_physics(sample.products[i], gpu_, parameters, tiles);
    };
    model.parameters = fit_parameters(starting_at(start), times, sample.log_seconds,
                                      {.huber = 0.08, .iterations = iterations});
    std::vector<SurfaceRow> rows;
    std::vector<double> left;
    for (const ProductTiming* timing : timings) {
      rows.push_back(product_surface(timing->product));
      const double physics = product_physics(timing->product, gpu_, model.parameters, tiles);
      left.push_back(portable_log(timing->seconds / physics));
    }
    model.surface = fit_surface(rows, left, kProductSurfaceColumns);
    return model;
  }

  double error(const ProductTiming& timing, const ProductModel& model) const {
    return product_time(timing.product, gpu_, model) / timing.seconds - 1;
  }
  std::vector<double> errors(const std::vector<const ProductTiming*>& timings,
                             const ProductModel& model) const {
    std::vector<double> out;
    for (const ProductTiming* timing : timings) out.push_back(error(*timing, model));
    return out;
  }

 private:
  const ProductGpu& gpu_;
};

double mean_size(const std::vector<double>& errors) {
  double sum = 0;
  for (const double error : errors) sum += std::abs(portable_log(1 + error));
  return sum / static_cast<double>(errors.size());
}

}  // namespace

FitErrors errors_of(const std::vector<double>& errors) {
  if (errors.empty()) return {};
  std::vector<double> sizes;
  for (const double error : errors) sizes.push_back(std::abs(error));
  return {.rows = static_cast<std::int64_t>(errors.size()),
          .median = quantile_of(sizes, 0.5),
          .p90 = quantile_of(sizes, 0.9),
          .bias = quantile_of(errors, 0.5)};
}

bool in_range_of_model(const ProductCase& product) {
  const auto within = [](double size) { return size >= 512 && size <= 16384; };
  return product.m <= 8192 && within(product.n) && within(product.k);
}

ProductFit fit_product(std::vector<ProductTiming> timings, const ProductGpu& gpu) {
  ProductFit out;
  out.outside = static_cast<std::int64_t>(std::erase_if(
      timings, [](const ProductTiming& timing) { return !in_range_of_model(timing.product); }));
  out.rows = static_cast<std::int64_t>(timings.size());
  TS_EXPECTS(out.rows >= kFewestProducts, out.rows);
  std::ranges::sort(timings, {}, [](const ProductTiming& t) {
    return std::tuple(t.product.n, t.product.k, t.product.m, t.seconds);
  });
  std::vector<const ProductTiming*> all;
  for (const ProductTiming& timing : timings) all.push_back(&timing);

  const Fitter fitter(gpu);
  constexpr int kIterations = 10;
  out.model = fitter.fit(all, ProductTiles::library, {}, kIterations);
  const ProductModel few = fitter.fit(all, ProductTiles::few, {}, kIterations);
  if (mean_size(fitter.errors(all, few)) < kBetterTiles * mean_size(fitter.errors(all, out.model)))
    out.model = few;
  out.fitted = errors_of(fitter.errors(all, out.model));

  std::vector<double> unseen;
  for (std::size_t fold = 0; fold < kShapeFolds; ++fold) {
    std::vector<const ProductTiming*> seen;
    std::vector<const ProductTiming*> held_out;
    for (const ProductTiming* timing : all)
      (fold_of(timing->product) == fold ? held_out : seen).push_back(timing);
    if (held_out.empty() || seen.empty()) continue;
    const ProductModel model = fitter.fit(seen, out.model.tiles, {}, kIterations);
    for (const ProductTiming* timing : held_out) unseen.push_back(fitter.error(*timing, model));
  }
  out.unseen = errors_of(unseen);
  return out;
}

}  // namespace tiersim
