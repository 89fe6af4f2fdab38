#include "hwmodels/compute/matrix_tiles.hpp"

#include <algorithm>
#include <limits>

#include "sim/base/check.hpp"

namespace tiersim {
namespace {

constexpr Int128 ceil_div(Int128 amount, Int128 portion) {
  return (amount + portion - 1) / portion;
}

}  // namespace

void describe(Fields& f, MatrixTilesConfig& c) {
  f.doc("How products with weights are cut into tiles, one on an SM at a time.");
  f.required("rows", c.rows, "Height of the tallest tile, in tokens; half of it is offered too.",
             in_range(1, 4096));
  f.required("row_step", c.row_step,
             "Tokens that an instruction takes at least: a tile that stands alone in its column is "
             "a multiple of it high.",
             in_range(1, 4096));
  f.required("columns", c.columns, "Width of a tile.", in_range(1, 4096));
  f.required("depth_slice", c.depth_slice,
             "Least depth of a piece, where the depth is split because tiles are fewer than SMs.",
             in_range(1, 1 << 20));
  f.required("sms", c.sms, "Streaming multiprocessors.", in_range(1, 4096));
  f.required("measured_edge", c.measured_edge,
             "Rows, columns and depth of the product that `efficiency` is of: its own last wave is "
             "not counted twice.",
             in_range(1, 1 << 17));
  f.check(c.row_step.value > 0 && c.rows.value % (2 * c.row_step.value) == 0, "rows",
          "is not an even multiple of row_step", "a tile of half that height is whole steps too");
}

NumberClass weakest_of(const MatrixTilesConfig& c) {
  return std::max({c.rows.number_class, c.row_step.number_class, c.columns.number_class,
                   c.depth_slice.number_class, c.sms.number_class, c.measured_edge.number_class});
}

MatrixTiles::MatrixTiles(const MatrixTilesConfig& config) : config_(config) {}

Flops MatrixTiles::occupied(const MatrixShape& product) const {
  TS_EXPECTS(product.rows > 0 && product.columns > 0 && product.depth > 0 && product.count > 0,
             product.rows, product.columns, product.depth, product.count);
  const std::int64_t tallest = config_.rows.value;
  Int128 least = std::min(occupied(product, tallest), occupied(product, tallest / 2));
  if (product.rows < tallest) {
    const std::int64_t step = config_.row_step.value;
    const auto height = static_cast<std::int64_t>(ceil_div(product.rows, step) * step);
    least = std::min(least, occupied(product, height));
  }
  if (least > std::numeric_limits<std::int64_t>::max()) throw UnitOverflow();
  return Flops::from_base(static_cast<std::int64_t>(least));
}

Int128 MatrixTiles::occupied(const MatrixShape& product, std::int64_t height) const {
  const std::int64_t columns = config_.columns.value;
  const Int128 tiles =
      product.count * ceil_div(product.rows, height) * ceil_div(product.columns, columns);
  return 2 * Int128{config_.sms.value} * height * columns * depth_in_turn(tiles, product.depth);
}

Int128 MatrixTiles::depth_in_turn(Int128 tiles, std::int64_t depth) const {
  const std::int64_t sms = config_.sms.value;
  if (tiles >= sms) return ceil_div(tiles, sms) * depth;
  const std::int64_t slice = config_.depth_slice.value;
  const auto few = static_cast<std::int64_t>(tiles);
  const std::int64_t most = std::min(sms, depth / slice + (depth % slice != 0));
  std::int64_t least = depth;
  // Among the splits with the same number of waves, the finest has the least depth.
  std::int64_t splits = 1;
  for (std::int64_t waves = 1; splits < most; ++waves) {
    splits = std::min(most, waves * sms / few);
    const std::int64_t piece = depth / splits + (depth % splits != 0);
    least = std::min(least, waves * std::max(slice, piece));
  }
  return least;
}

double MatrixTiles::filled(const MatrixShape& product) const {
  const double flops = 2.0 * static_cast<double>(product.rows) *
                       static_cast<double>(product.columns) * static_cast<double>(product.depth) *
                       static_cast<double>(product.count);
  return flops / static_cast<double>(occupied(product).in_base());
}

double MatrixTiles::full_efficiency(double efficiency) const {
  const std::int64_t edge = config_.measured_edge.value;
  return std::min(1.0, efficiency / filled({.rows = edge, .columns = edge, .depth = edge}));
}

}  // namespace tiersim
