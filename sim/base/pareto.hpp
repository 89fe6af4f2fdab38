#pragma once
// Pareto fronts of points with several objectives.
//
//   const std::vector<std::size_t> front = pareto_front(points, {Sense::maximize, ...});
//
// A point dominates another if it is no worse in every objective and better in at least one. So
// equal points are all on the front, or none is. A point with a value that is not finite has no
// place: it dominates nothing and is on no front. The order of the points affects only the order of
// results.
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tiersim {

enum class Sense : std::uint8_t { minimize, maximize };
inline constexpr std::array<std::string_view, 2> kSenseNames{"minimize", "maximize"};

using Objectives = std::vector<double>;  ///< of one point; one value per direction
using Senses = std::vector<Sense>;

/// Indices of the points that no other point dominates, in rising order. The cost is n log n for
/// two objectives, and n times the size of the front for more.
std::vector<std::size_t> pareto_front(const std::vector<Objectives>& points,
                                      const Senses& directions);

/// Rank of each point by non-dominated sorting: 0 on the front, 1 on the front of the remaining
/// points, and so on (Deb et al., IEEE Trans. Evolutionary Computation 6(2), 2002, section III-A).
/// Empty for a point without a place.
std::vector<std::optional<std::size_t>> pareto_ranks(const std::vector<Objectives>& points,
                                                     const Senses& directions);

/// Crowding distance of each point, for points of one rank (ibid., section III-B): the distance
/// between its two neighbours as a share of the range, summed over all objectives; infinite for the
/// first and last point of an objective.
std::vector<double> crowding_distances(const std::vector<Objectives>& points);

/// Volume between the reference and the points, that is, of the region that they dominate. It grows
/// as the front comes nearer to the optimum and covers more of it (Zitzler and Thiele, IEEE Trans.
/// Evolutionary Computation 3(4), 1999). Exact for any number of objectives, by slices along the
/// last one: n log n for two, n^2 log n for three, then a factor of n each. A point adds volume
/// only if it is better than the reference in every objective.
double hypervolume(const std::vector<Objectives>& points, const Objectives& reference,
                   const Senses& directions);

/// The worst value of each objective over the points with a place. It is the reference for
/// hypervolumes that are compared on the same points. Empty if no point has a place.
Objectives worst_of(const std::vector<Objectives>& points, const Senses& directions);

/// The point of the front that is nearest to the best value of every objective at once. Each
/// objective is scaled to the range of the front (compromise programming: Zeleny, 1973, with the
/// Euclidean distance). Ties go to the first point; empty if there are no points.
std::optional<std::size_t> knee_point(const std::vector<Objectives>& points,
                                      const Senses& directions);

}  // namespace tiersim
