#pragma once
// Model card: matrix_tiles (fidelity: analytic)
//   Models    the time that a matrix product keeps the SMs busy when its result is cut into
//             tiles, with one tile on an SM at a time, and few tiles are also split in depth.
//   Equation  FLOPs that the whole GPU could do in this time =
//             2 * sms * ceil(tiles * s / sms) * h * columns * d, the least over h, s and d with
//             tiles = count * ceil(rows of the product / h) * ceil(its columns / columns);
//             h = `rows` or half of it, or one tile of any multiple of `row_step` below;
//             s = 1, or up to one piece for each `depth_slice` where the tiles are fewer than the
//             SMs; s * d >= depth, d >= min(depth, depth_slice).
//             Every choice of h, s, d that serves a product serves all smaller ones at the same
//             cost. So the result never falls as rows, columns, depth or count grow; it rises in
//             steps where one more tile, or one more wave of tiles, begins.
//   Ignores   filling the pipeline and writing the result of each tile: published fp8 products of
//             4096 rows on H800 reach .75 of a deep one's rate at depth 2048, .43 at 512, where
//             this sees no loss; adding up the pieces of a split; operands that L2 delivers too
//             slowly to small tiles; clusters of SMs; a spread of rows over experts.
//   Valid     products for which a library has tuned kernels, all at one rate in full waves.
//   Source    NVIDIA, Matrix Multiplication Background User's Guide (2023): tile and wave
//             quantization; PTX ISA: an mma of m16n8k16, or a wgmma of m64nNk16 with N a multiple
//             of 8, takes the tokens as its N; DeepGEMM README, first release (2025): the products.
//   Checked   tests/unit/hwmodels/matrix_tiles_test.cpp
#include <cstdint>

#include "sim/base/number_class.hpp"
#include "sim/config/fields.hpp"
#include "sim/model/step_graph.hpp"

namespace tiersim {

/// Rows, columns and depth are in elements.
struct MatrixTilesConfig {
  Sourced<std::int64_t> rows;
  Sourced<std::int64_t> row_step;
  Sourced<std::int64_t> columns;
  Sourced<std::int64_t> depth_slice;
  Sourced<std::int64_t> sms;
  Sourced<std::int64_t> measured_edge;
};
void describe(Fields& f, MatrixTilesConfig& c);
/// The weakest number class among its numbers.
NumberClass weakest_of(const MatrixTilesConfig& c);

class MatrixTiles {
 public:
  explicit MatrixTiles(const MatrixTilesConfig& config);

  /// FLOPs that all SMs could do in the time that the product keeps them busy; at least 2 * rows *
  /// columns * depth * count, each of which is above 0.
  Flops occupied(const MatrixShape& product) const;

  /// Share of the full rate that a product reaches: 1 where its tiles are whole and the last wave
  /// is full.
  double filled(const MatrixShape& product) const;

  /// Share of the peak that full waves of whole tiles reach, at most 1. `efficiency` is the
  /// measured one of a square product of edge `measured_edge`, whose last wave need not be full.
  double full_efficiency(double efficiency) const;

 private:
  // Depth that each SM works through over all of its waves; the least over all splits.
  Int128 depth_in_turn(Int128 tiles, std::int64_t depth) const;
  Int128 occupied(const MatrixShape& product, std::int64_t height) const;

  MatrixTilesConfig config_;
};

}  // namespace tiersim
