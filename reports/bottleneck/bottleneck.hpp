#pragma once
// Which device bounds which point, by how much, and what would bound it next.
//
// Of a step: the chain of operations that no device can shorten waits for one cause after another
// (`bound_shares`); what it waits for most bounds it. Where the chain is not what is longest, since
// one channel has more work than the chain is long (`bounded_by` names it), that channel bounds it.
// Of a server, whose records hold no chain: the channel, GPU or host that works most of the time.
#include <optional>
#include <string>
#include <vector>

#include "reports/points/point_table.hpp"

namespace tiersim {

struct CauseShare {
  std::string cause = {};
  double share = 0;  ///< of the chain; of a server: of the time that it works
};

struct Bottleneck {
  std::size_t point = 0;
  std::string bound_by = {};
  std::optional<double> time_s = {};    ///< of a step as run; none of a server
  std::optional<double> bound_s = {};   ///< no step is faster
  std::vector<CauseShare> shares = {};  ///< largest first; causes without any left out
  bool of_chain = true;  ///< shares add up to 1; else each is one of the time, and several overlap

  /// What would bound it next, were there no wait for `bound_by`: a channel by the time that it
  /// works (it works as long at least), or what the chain waits for. Share of the bound as it is.
  std::optional<CauseShare> next = {};
  /// The bound over the least that is left then, of the chain and of every other channel: no way to
  /// make `bound_by` faster gains more. None of a server.
  std::optional<double> most_gain = {};

  double share() const;  ///< of what bounds it; 0 where that is no part of the chain
};

/// Of points whose record says it, by position.
std::vector<Bottleneck> bottlenecks(const PointTable& table);

/// All causes, those that bound the most points first; then by their mean share, then by name.
std::vector<std::string> causes_of(const std::vector<Bottleneck>& all);

}  // namespace tiersim
