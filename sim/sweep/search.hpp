#pragma once
// Finds the Pareto front of a design space with a part of its points: an even start, then a
// generation at a time near the best so far.
//
//   Search search(space, *config.search, objectives.directions());
//   while (!search.done()) {
//     for (const SpacePoint& point : search.next())      // run them, in any order
//       search.tell(point.position, objectives.of(...));
//   }
//
// The start is a Latin hypercube over all axes, or over as many as the start has places. Then every
// generation ranks what is known: acceptable points before others, by non-dominated sorting and
// crowding; the others by how far they are from acceptable (Deb, Computer Methods in Applied
// Mechanics and Engineering 186, 2000); what failed last. Parents are drawn from the best in
// tournaments of two. Of the new points
//   a fifth are neighbours of a parent, one step along one axis;
//   a quarter longer steps, along one axis or more, each by a power of two that the axis holds, so
//   that steps of every size are tried;
//   a fifth mixtures of two parents, axis by axis;
//   a fifth lie beyond a parent, away from another, by part of what lies between them;
//   the rest is drawn from all that is left, so that no front keeps the search to itself.
// A place that was visited is never run again: what falls on one becomes a draw from the rest.
//
// The choice depends on the seed and on what was told, never on when or in which order it was told.
// So a resumed search chooses the same points, and finds most of them in the store. It has no model
// of the objectives: it is for lattices where a neighbour is more like a point than a stranger is.
// Labels of a list that has no order are a lattice as well, where the longer steps find their way.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/base/pareto.hpp"
#include "sim/base/rng.hpp"
#include "sim/sweep/design_space.hpp"
#include "sim/sweep/search_lattice.hpp"
#include "sim/sweep/sweep_config.hpp"

namespace tiersim {

/// What a point came to.
struct SearchResult {
  Objectives values = {};  ///< in the order of the directions; empty: it failed or has none
  double violation = 0;    ///< how far its constraints are from holding; 0: acceptable
};

/// All indices, the best first: as the search ranks them.
std::vector<std::size_t> search_order(const std::vector<SearchResult>& results,
                                      const Senses& directions);

class Search {
 public:
  /// `space` outlives this; at least one direction.
  Search(const DesignSpace& space, const SweepSearch& settings, Senses directions);

  /// The next generation; what was chosen before must have been told. Positions count from 0 in the
  /// order of choice. Empty when the budget is spent or no place is left.
  std::vector<SpacePoint> next();

  /// The result of a point of the last generation, each once.
  void tell(std::int64_t position, SearchResult result);

  /// Whether next() would be empty. False before the last generation has been told.
  bool done();

  std::int64_t chosen() const { return chosen_; }

 private:
  struct Known {
    SearchPlace place;
    SearchResult result = {};
    bool told = false;
  };
  void rank();
  void choose();
  void choose_start();
  bool take(const SearchPlace& place);
  bool take_any();
  void breed();
  const SearchPlace& parent();
  SearchPlace child(double kind, const SearchPlace& a, const SearchPlace& b);
  SearchPlace near(const SearchPlace& from);
  SearchPlace far(const SearchPlace& from);
  SearchPlace mixed(const SearchPlace& a, const SearchPlace& b);
  SearchPlace beyond(const SearchPlace& a, const SearchPlace& b);

  SweepSearch settings_;
  Senses directions_;
  SearchLattice lattice_;
  Rng rng_;
  std::int64_t chosen_ = 0;
  bool exhausted_ = false;
  std::vector<Known> best_;                // ranked, the best first
  std::map<std::int64_t, Known> waiting_;  // of this generation, by position
  std::size_t told_ = 0;                   // of waiting_
  std::vector<SpacePoint> ready_;          // chosen and not given out
};

}  // namespace tiersim
