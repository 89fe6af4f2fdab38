#pragma once
// Error of one layer's output by slicing: by transform, constants, number of slices and sliced
// step, over several seeds. Source: TPLA, section 5.3.2 and Figure 2, which measures the accuracy
// of trained models; here the measure is the relative error of the layer's output.
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "workloads/numerics/study.hpp"
#include "workloads/numerics/tpla_sample.hpp"

namespace tiersim::numerics {

constexpr std::array<Eigen::Index, 3> kShardCounts = {2, 4, 8};

/// Relative errors of the attention output (Frobenius norm) for one seed.
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

/// Quality of a slice as an estimate, for two slices: the first slice's share of a token's
/// energy (condition 1), and the relation of its partial scores without position to the whole ones
/// (condition 2).
struct SliceBalance {
  Transform transform = Transform::identity;
  double share = 0;
  double spread = 0;  ///< standard deviation over tokens
  double slope = 0;   ///< least squares of partial on whole scores, through the origin
  double correlation = 0;
};

/// All cases on one kind of latents.
struct SliceErrorFamily {
  std::string id;
  std::string title;
  std::vector<SliceErrorCase> cases;
  /// MLA cut to GLA, by seed; empty for numbers of slices that were not run.
  std::array<std::vector<double>, kShardCounts.size()> grouped;
  std::vector<SliceBalance> balance;  ///< of the first seed

  const SliceErrorCase& find(Transform transform, Constants constants, Eigen::Index shards) const;
};

/// Errors of the first `count` seeds, for the numbers of slices in `shards`, a subset of
/// kShardCounts.
SliceErrorFamily slice_errors(std::string id, std::string title, const TplaAssumptions& assumptions,
                              std::uint64_t seed, int count,
                              std::span<const Eigen::Index> shards = kShardCounts);

Table error_table(const SliceErrorFamily& family);
Table balance_table(const std::vector<SliceErrorFamily>& families);
/// Error against the number of slices.
Curve error_curve(const SliceErrorFamily& family);

/// The orderings of the paper for two slices, judged on `wide` (the paper's width of latent) with
/// the scores of slices. The texts also give the figures of other constants and latents.
std::vector<Statement> error_statements(const SliceErrorFamily& wide,
                                        const std::vector<SliceErrorFamily>& others);

}  // namespace tiersim::numerics
