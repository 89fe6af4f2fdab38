#pragma once
// Model card: product_model (fitted from timings)
//   Models    the time of one matrix product, m x k by k x n, as a library runs it on a GPU.
//   Equation  t = (t0 + (M^p + C^p)^(1/p) + Q) * exp(surface(m, n, k)).
//             M = (W + A) / (share * memory rate), with W the weights and A inputs and result;
//             faster by l2_speed where what the repetitions touch lies in L2.
//             C = the least over tiles and splits of the depth of (waves of tiles over the SMs) *
//             (64-deep slices) * (time of a slice) + (cost of adding up the pieces).
//             Q = quantise * (2 + input bytes) * m * k / memory rate, where inputs are quantised.
//   Ignores   other kernels on the GPU; clocks that fall with power; heuristics that choose a
//             kernel which is not the fastest.
//   Valid     m up to 8192, n and k from 512 to 16384: the surface is constant beyond its knots.
//   Source    tiles and waves: NVIDIA, Matrix Multiplication Background User's Guide (2023);
//             numbers: timings, by fit_product (product_fit.hpp).
//   Checked   tests/unit/hwmodels/product_fit_test.cpp: planted truth
#include <array>
#include <string_view>
#include <vector>

#include "hwmodels/calibrate/fit/robust_fit.hpp"

namespace tiersim {

/// A product of m x k by k x n, the weights, with the bytes of an element.
struct ProductCase {
  double m = 0;
  double n = 0;
  double k = 0;
  double weight_bytes = 2;
  double input_bytes = 2;
  bool quantises = false;  ///< inputs arrive as bf16 and are quantised within the timing
  /// Repetitions of a timing go round this many copies of the weights; 0 where they lie in memory.
  double copies = 0;
};

/// Data sheet of the timed GPU.
struct ProductGpu {
  double memory = 0;    ///< B/s
  double peak = 0;      ///< FLOP/s of the operand type
  double l2_bytes = 0;  ///< B
  double sms = 0;
};

/// Positions in ProductModel::parameters.
enum class ProductParameter : std::size_t {
  t0,          ///< shortest time [s]
  memory,      ///< share of the memory's rate
  peak,        ///< share of the peak in a tile without an end
  edge,        ///< loss of tiles by the length of their edges, relative to 64 x 64
  slice,       ///< time of a 64-deep slice beyond its operations [s]
  split,       ///< time of adding up the pieces of a split depth [s]
  wave,        ///< share of a wave that its missing tiles cost
  small_wave,  ///< the same for tiles of 64 rows
  sharpness,   ///< p
  l2_speed,    ///< rate of L2 over that of memory
  l2_end,      ///< working set over L2 from which nothing is found there
  quantise,    ///< passes over inputs that quantising takes
};
inline constexpr std::array<std::string_view, 12> kProductParameterNames{
    "t0",   "memory",     "peak",      "edge",     "slice",  "split",
    "wave", "small_wave", "sharpness", "l2_speed", "l2_end", "quantise"};

/// Tiles and splits that a library chooses from: many by cuBLAS and its kin, few by an engine's
/// own.
enum class ProductTiles : std::uint8_t { library, few };

struct ProductModel {
  std::vector<double> parameters = {};  ///< by ProductParameter
  ProductTiles tiles = ProductTiles::library;
  std::vector<double> surface = {};  ///< of product_surface(); empty: none
};

/// Weights of the surface at a product: seven ranges of m, three knots of n, three of k.
SurfaceRow product_surface(const ProductCase& product);
inline constexpr int kProductSurfaceColumns = 7 * 3 * 3;

/// Time without the surface [s].
double product_physics(const ProductCase& product, const ProductGpu& gpu,
                       const std::vector<double>& parameters, ProductTiles tiles);
/// Time [s].
double product_time(const ProductCase& product, const ProductGpu& gpu, const ProductModel& model);

}  // namespace tiersim
