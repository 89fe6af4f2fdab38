#include "hwmodels/calibrate/fit/product_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "hwmodels/calibrate/fit/kernel_fit.hpp"
#include "sim/base/portable_math.hpp"

namespace tiersim {
namespace {

constexpr double kSlice = 64;  // depth of the operands of one step of a tile

struct Tile {
  double rows = 0;
  double columns = 0;
};
constexpr std::array<Tile, 8> kLibraryTiles{Tile{64, 64}, {64, 128},  {128, 64},  {128, 128},
                                            {128, 192},   {128, 256}, {256, 128}, {192, 128}};
constexpr std::array<Tile, 3> kFewTiles{Tile{64, 128}, {128, 128}, {256, 128}};
constexpr std::array<double, 4> kLibrarySplits{1, 2, 4, 8};
constexpr std::array<double, 1> kFewSplits{1};

class Physics {
 public:
  Physics(const ProductCase& product, const ProductGpu& gpu, const std::vector<double>& parameters)
      : c_(product), gpu_(gpu), parameters_(parameters) {}

  double time(ProductTiles tiles) const {
    const bool library = tiles == ProductTiles::library;
    const double compute =
        library ? least(kLibraryTiles, kLibrarySplits) : least(kFewTiles, kFewSplits);
    double time =
        at(ProductParameter::t0) + blend(memory(), compute, at(ProductParameter::sharpness));
    if (c_.quantises)
      time += at(ProductParameter::quantise) * (2 + c_.input_bytes) * c_.m * c_.k / gpu_.memory;
    return time;
  }

 private:
  double at(ProductParameter p) const { return parameters_[static_cast<std::size_t>(p)]; }
  double memory_rate() const { return at(ProductParameter::memory) * gpu_.memory; }

  double memory() const {
    const double weights = c_.weight_bytes * c_.n * c_.k;
    const double others = c_.input_bytes * c_.m * c_.k + 2 * c_.m * c_.n;
    const double all = (weights + others) / memory_rate();
    if (c_.copies <= 0 || gpu_.l2_bytes <= 0) return all;
    const double touched = (c_.copies * weights + others) / gpu_.l2_bytes;
    const double end = at(ProductParameter::l2_end);
    const double hit = std::clamp((end - touched) / (end - 1), 0.0, 1.0);
    return all * (1 - hit + hit / at(ProductParameter::l2_speed));
  }

  double least(std::span<const Tile> tiles, std::span<const double> splits) const {
    double least = std::numeric_limits<double>::infinity();
    for (const Tile& tile : tiles)
      for (const double split : splits) least = std::min(least, compute(tile, split));
    return least;
  }

  double compute(const Tile& tile, double split) const {
    const double tiles = std::ceil(c_.m / tile.rows) * std::ceil(c_.n / tile.columns);
    const double rate = at(ProductParameter::peak) * gpu_.peak / gpu_.sms;
    const double edges = 32 / tile.rows + 32 / tile.columns;
    const double slice =
        2 * tile.rows * tile.columns * kSlice / rate * (1 + at(ProductParameter::edge) * edges) +
        at(ProductParameter::slice);
    const double rounded =
        at(tile.rows <= 64 ? ProductParameter::small_wave : ProductParameter::wave);
    const double full = tiles * split / gpu_.sms;
    const double waves = std::max(full + rounded * (std::ceil(full) - full), rounded);
    double time = waves * std::ceil(c_.k / split / kSlice) * slice;
    if (split > 1)
      time += at(ProductParameter::split) +
              8 * split * c_.m * c_.n / (at(ProductParameter::l2_speed) * memory_rate());
    return time;
  }

  const ProductCase& c_;
  const ProductGpu& gpu_;
  const std::vector<double>& parameters_;
};

double log2_of(double x) {
  static const double kLog2 = portable_log(2);
  return portable_log(x) / kLog2;
}

// Libraries choose among kernels by ranges of m, so the surface steps between the lower ranges.
SurfaceRow ranges_of(double m) {
  constexpr std::array<double, 4> kEnds{16, 64, 128, 256};
  for (std::size_t i = 0; i < kEnds.size(); ++i)
    if (m <= kEnds[i]) return {{static_cast<int>(i), 1.0}};
  SurfaceRow row = hat_weights(log2_of(m), {8, 10, 13});
  for (auto& [column, weight] : row) column += static_cast<int>(kEnds.size());
  return row;
}

}  // namespace

SurfaceRow product_surface(const ProductCase& product) {
  const std::vector<double> knots{9, 11.5, 14};
  const SurfaceRow nk =
      tensor(hat_weights(log2_of(product.n), knots), hat_weights(log2_of(product.k), knots), 3);
  return tensor(ranges_of(product.m), nk, 9);
}

double product_physics(const ProductCase& product, const ProductGpu& gpu,
                       const std::vector<double>& parameters, ProductTiles tiles) {
  return Physics(product, gpu, parameters).time(tiles);
}

double product_time(const ProductCase& product, const ProductGpu& gpu, const ProductModel& model) {
  const double physics = product_physics(product, gpu, model.parameters, model.tiles);
  if (model.surface.empty()) return physics;
  return physics * portable_exp(surface_at(product_surface(product), model.surface));
}

}  // namespace tiersim
