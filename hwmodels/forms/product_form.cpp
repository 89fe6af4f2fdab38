#include "hwmodels/forms/product_form.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "hwmodels/forms/blend.hpp"

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

constexpr std::array<FormSize, 7> kProductSizes{
    FormSize{"m", "Rows of the input: tokens."},
    {"n", "Columns of the result."},
    {"k", "Depth."},
    {"weight_bytes", "Bytes of an element of the weights, k x n."},
    {"input_bytes", "Bytes of an element of the input."},
    {"quantises", "1 where the time includes the quantisation of the input from bf16, else 0."},
    {"copies", "Copies of the weights that repetitions go round; 0 where they lie in memory."}};

// Positions in kProductParameters.
enum class ProductParameter : std::size_t {
  t0,          // shortest time [s]
  memory,      // share of the memory's rate
  peak,        // share of the peak in a tile without an end
  edge,        // loss of tiles by the length of their edges, relative to 64 x 64
  slice,       // time of a 64-deep slice beyond its operations [s]
  split,       // time of adding up the pieces of a split depth [s]
  wave,        // share of a wave that its missing tiles cost
  small_wave,  // the same for tiles of 64 rows
  sharpness,   // p
  l2_speed,    // rate of L2 over that of memory
  l2_end,      // working set over L2 from which nothing is found there
  quantise,    // passes over inputs that quantising takes
};
// The ends are what hardware allows, with room: an empty kernel takes more than 0.2 us, no memory
// more than its data sheet by a fifth, no L2 more than eight times its memory's rate.
constexpr std::array<FormParameter, 12> kProductParameters{FormParameter{"t0", 2.5e-6, 2e-7, 5e-5},
                                                           {"memory", 0.85, 0.2, 1.2},
                                                           {"peak", 0.8, 0.1, 1.2},
                                                           {"edge", 0.3, 0.01, 5},
                                                           {"slice", 6e-8, 1e-9, 1e-6},
                                                           {"split", 1e-6, 1e-8, 2e-5},
                                                           {"wave", 0.7, 0.05, 1},
                                                           {"small_wave", 0.7, 0.05, 1},
                                                           {"sharpness", 3, 1, 10},
                                                           {"l2_speed", 2, 1, 8},
                                                           {"l2_end", 1.15, 1.02, 2},
                                                           {"quantise", 1, 0.05, 20}};
constexpr std::array<std::string_view, 2> kTileVariants{"library", "few"};

class ProductPhysics {
 public:
  ProductPhysics(const ProductCase& product, const GpuSheet& gpu,
                 std::span<const double> parameters)
      : c_(product), gpu_(gpu), parameters_(parameters) {}

  double time(bool library) const {
    const double compute =
        library ? least(kLibraryTiles, kLibrarySplits) : least(kFewTiles, kFewSplits);
    double time =
        at(ProductParameter::t0) + blend(memory(), compute, at(ProductParameter::sharpness));
    if (c_.quantises > 0)
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
  const GpuSheet& gpu_;
  std::span<const double> parameters_;
};

// Libraries choose among kernels by ranges of m, so the surface steps between the lower ranges.
SurfaceRow ranges_of(double m) {
  constexpr std::array<double, 4> kEnds{16, 64, 128, 256};
  for (std::size_t i = 0; i < kEnds.size(); ++i)
    if (m <= kEnds[i]) return {{static_cast<int>(i), 1.0}};
  static const std::vector<double> knots{8, 10, 13, 15};
  SurfaceRow row = hat_weights(log2_of(m), knots);
  for (auto& [column, weight] : row) column += static_cast<int>(kEnds.size());
  return row;
}

class ProductForm final : public KernelForm {
 public:
  std::string_view name() const override { return "product"; }
  std::span<const FormSize> sizes() const override { return kProductSizes; }
  std::span<const FormParameter> parameters() const override { return kProductParameters; }
  std::span<const std::string_view> variants() const override { return kTileVariants; }

  bool in_range(KernelSizes sizes) const override {
    const auto within = [](double size) { return size >= 32 && size <= 65536; };
    return sizes[0] <= 32768 && within(sizes[1]) && within(sizes[2]);
  }

  double physics(KernelSizes s, const GpuSheet& gpu, std::span<const double> parameters,
                 std::size_t variant) const override {
    const ProductCase product{s[0], s[1], s[2], s[3], s[4], s[5], s[6]};
    return ProductPhysics(product, gpu, parameters).time(variant == 0);
  }

  // Eight ranges of m, five knots of n, five of k.
  SurfaceRow surface(KernelSizes s, const GpuSheet&) const override {
    static const std::vector<double> knots{5, 9, 11.5, 14, 16};
    const SurfaceRow nk =
        tensor(hat_weights(log2_of(s[1]), knots), hat_weights(log2_of(s[2]), knots), 5);
    return tensor(ranges_of(s[0]), nk, 25);
  }
  int surface_columns() const override { return 8 * 5 * 5; }
};

}  // namespace

const KernelForm& product_form() {
  static const ProductForm form;
  return form;
}

}  // namespace tiersim
