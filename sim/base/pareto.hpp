#pragma once
// Points of several objectives: which of them nothing beats.
//
//   const std::vector<std::size_t> front = pareto_front(points, {Sense::maximize, ...});
//
// A point dominates another that it is not worse than in any objective and better than in one. So
// equal points are all on the front, or none. A point with a value that is not finite has no place:
// it dominates nothing and is on no front. The order of points never decides, but in results, which
// keep it.
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tiersim {

enum class Sense : std::uint8_t { minimize, maximize };
inline constexpr std::array<std::string_view, 2> kSenseNames{"minimize", "maximize"};

using Objectives = std::vector<double>;  ///< of one point, one value for each direction
using Senses = std::vector<Sense>;

/// Points that no other dominates, by rising index. n log n for two objectives, n times the front
/// for more.
std::vector<std::size_t> pareto_front(const std::vector<Objectives>& points,
                                      const Senses& directions);

/// 0 on the front, 1 on the front of what is left without it, and so on (non-dominated sorting, Deb
/// et al., IEEE Trans. Evolutionary Computation 6(2), 2002, section III-A); none without a place.
std::vector<std::optional<std::size_t>> pareto_ranks(const std::vector<Objectives>& points,
                                                     const Senses& directions);

/// How alone each of some points is: over all objectives, the distance between its two neighbours
/// as a share of the range; infinite at an end (crowding distance, ibid., section III-B). For
/// points of one rank.
std::vector<double> crowding_distances(const std::vector<Objectives>& points);

/// Volume between the reference and all that the points dominate: the larger, the nearer the front
/// is to the best and the more of it was found (Zitzler and Thiele, IEEE Trans. Evolutionary
/// Computation 3(4), 1999). Exact for any number of objectives, by slices along the last one: n log
/// n for two, n^2 log n for three, then a factor of n each. What is not better than the reference
/// in every objective adds nothing.
double hypervolume(const std::vector<Objectives>& points, const Objectives& reference,
                   const Senses& directions);

/// The worst value of each objective, over points with a place: a reference for hypervolumes that
/// are compared on the same points. Empty where there is no such point.
Objectives worst_of(const std::vector<Objectives>& points, const Senses& directions);

/// Of the front the point nearest to the best value of every objective at once, each measured from
/// its best to its worst on the front (compromise programming: Zeleny, 1973, with the Euclidean
/// distance); the first of several. None of nothing.
std::optional<std::size_t> knee_point(const std::vector<Objectives>& points,
                                      const Senses& directions);

}  // namespace tiersim
