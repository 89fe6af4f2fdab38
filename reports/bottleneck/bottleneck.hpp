#pragma once
// The bottleneck of every point: the device that bounds it, by how much, and the next bottleneck
// once that one is removed.
//
// For a step, the critical path waits for one cause after another (`bound_shares`). The cause that
// it waits for longest is the bottleneck. One channel can have more work than the critical path is
// long; `bounded_by` then names that channel, and it is the bottleneck. Records of a server hold no
// critical path, so there the bottleneck is the channel, GPU or host with the highest utilisation.
#include <optional>
#include <string>
#include <vector>

#include "reports/points/point_table.hpp"

namespace tiersim {

struct CauseShare {
  std::string cause = {};
  double share = 0;  ///< of the critical path; for a server: the utilisation of the cause
};

struct Bottleneck {
  std::size_t point = 0;
  std::string bound_by = {};
  std::optional<double> time_s = {};    ///< of the step as run; none for a server
  std::optional<double> bound_s = {};   ///< lower bound of the step time
  std::vector<CauseShare> shares = {};  ///< largest first; causes with a share of 0 are left out
  /// True where the shares are of the critical path and add up to 1. Else each is a utilisation,
  /// and several overlap.
  bool of_chain = true;

  /// The next bottleneck once nothing waits for `bound_by`: the channel that is busy longest, or
  /// the next cause on the critical path. Its share is of the bound with `bound_by` in place.
  std::optional<CauseShare> next = {};
  /// Upper limit of the gain from a faster `bound_by`: the bound over the longest time that remains
  /// on the critical path or on any other channel. None for a server.
  std::optional<double> most_gain = {};

  double share() const;  ///< share of `bound_by`; 0 where it is not on the critical path
};

/// One for each point whose record names a bottleneck, by position of the point.
std::vector<Bottleneck> bottlenecks(const PointTable& table);

/// All causes, sorted by the number of points that they bound, then by mean share, then by name.
std::vector<std::string> causes_of(const std::vector<Bottleneck>& all);

}  // namespace tiersim
