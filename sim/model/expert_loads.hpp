#pragma once
// Loads of the experts of one layer on the GPU of an expert-parallel group that has most to do: the
// others wait for it. Balanced loads are exact; those of a power law are the mean of a few draws
// that are the same every time.
#include <array>
#include <cstddef>

namespace tiersim {

/// Rows of a tile of the grouped products: kernels pad the rows of each expert to a multiple.
inline constexpr std::array<double, 6> kExpertTiles{8, 16, 32, 64, 128, 256};

struct ExpertRouting {
  double tokens = 1;  ///< of all GPUs of the group
  double top_k = 1;   ///< experts of a token
  double experts = 1;
  double ranks = 1;  ///< GPUs of the group, each with its part of the experts, rounded up
  /// Loads of experts follow a power law with this exponent; 0: all have the same load, +-1 token.
  double skew = 0;
};

struct ExpertLoads {
  double active = 0;                                   ///< experts with at least one row
  double rows = 0;                                     ///< of all experts: pairs of token, expert
  std::array<double, kExpertTiles.size()> tiles = {};  ///< of all experts, by kExpertTiles
};

/// Of a GPU whose `active` experts have the same number of `rows`.
ExpertLoads mean_loads(double active, double rows);
/// Of the most loaded GPU. A token visits an expert at most once.
ExpertLoads expert_loads(const ExpertRouting& routing);

}  // namespace tiersim
