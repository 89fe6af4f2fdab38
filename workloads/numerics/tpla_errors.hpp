#pragma once
// How far slicing moves the output of one layer: by transform, constants, number of slices, and
// what is sliced, over several seeds. Source: TPLA, section 5.3.2 and Figure 2, which measures
// accuracy of trained models; here it is the relative error of the layer's output.
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "workloads/numerics/study.hpp"
#include "workloads/numerics/tpla_sample.hpp"

namespace tiersim::numerics {

constexpr std::array<Eigen::Index, 3> kShardCounts = {2, 4, 8};

/// Relative errors of the attention output (Frobenius norm) of one seed.
struct SliceErrors {
  double norm = 0;
  double softmax = 0;
  double both = 0;
};

struct SliceErrorCase {
  Transform transform = Transform::identity;
  Constants constants = Constants::norm;
  Eigen::Index shards = 2;
  std::vector<SliceErrors> seeds;
};

/// What a slice says of the whole, for two slices: the first one's share of a token's energy
/// (condition 1) and how its partial scores without position follow the whole ones (condition 2).
struct SliceBalance {
  Transform transform = Transform::identity;
  double share = 0;
  double spread = 0;  ///< standard deviation over tokens
  double slope = 0;   ///< least squares of partial on whole scores, through the origin
  double correlation = 0;
};

/// All cases on latents of one kind.
struct SliceErrorFamily {
  std::string id;
  std::string title;
  std::vector<SliceErrorCase> cases;
  /// MLA cut to GLA, by seed; empty where the number of slices was not asked for.
  std::array<std::vector<double>, kShardCounts.size()> grouped;
  std::vector<SliceBalance> balance;  ///< of the first seed

  const SliceErrorCase& find(Transform transform, Constants constants, Eigen::Index shards) const;
};

/// Of the first `count` seeds, for the numbers of slices in `shards`, of kShardCounts.
SliceErrorFamily slice_errors(std::string id, std::string title, const TplaAssumptions& assumptions,
                              std::uint64_t seed, int count,
                              std::span<const Eigen::Index> shards = kShardCounts);

Table error_table(const SliceErrorFamily& family);
Table balance_table(const std::vector<SliceErrorFamily>& families);
/// Error against slices.
Curve error_curve(const SliceErrorFamily& family);

/// The orderings of the paper for two slices, judged on `wide` (its width of latent) with scores as
/// slices have them; the figures name the other constants and latents too.
std::vector<Statement> error_statements(const SliceErrorFamily& wide,
                                        const std::vector<SliceErrorFamily>& others);

}  // namespace tiersim::numerics
