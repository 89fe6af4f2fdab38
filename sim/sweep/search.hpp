#pragma once
// Finds the Pareto front of a design space from a part of its points: an even start, then one
// generation at a time near the best points so far.
//
//   Search search(space, *config.search, objectives.directions());
//   while (!search.done()) {
//     for (const SpacePoint& point : search.next())      // run them, in any order
//       search.tell(point.position, objectives.of(...));
//   }
//
// The start is a Latin hypercube over all axes, or over as many as the start has places. Then every
// generation ranks the known points: acceptable points first, by non-dominated sorting and
// crowding; then the others by their distance from acceptable (Deb, Computer Methods in Applied
// Mechanics and Engineering 186, 2000); failed points last. Parents are drawn from the best in
// tournaments of two. Of the new points
//   a fifth are neighbours of a parent, one step along one axis;
//   a quarter are longer steps along one axis or more, each by a power of two that the axis holds,
//   so that steps of every size are tried;
//   a fifth are mixtures of two parents, axis by axis;
//   a fifth lie beyond a parent, away from another, by a part of the distance between them;
//   the rest is drawn from all remaining places, so that no front captures the search.
// A visited place is never run again: a choice that falls on one becomes a draw from the rest.
//
// The choice depends on the seed and on the results, never on when or in which order they arrive.
// So a resumed search chooses the same points, and finds most of them in the store. It has no model
// of the objectives: it suits lattices in which neighbours are more alike than distant points.
// Labels of a list without an order also form a lattice; there the longer steps make progress.
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

/// The result of a point.
struct SearchResult {
  Objectives values = {};  ///< in the order of the directions; empty: failed or missing
  double violation = 0;    ///< sum of its constraint violations; 0: acceptable
};

/// All indices in the order of the search's ranking, the best first.
std::vector<std::size_t> search_order(const std::vector<SearchResult>& results,
                                      const Senses& directions);

class Search {
 public:
  /// `space` must outlive this; at least one direction.
  Search(const DesignSpace& space, const SweepSearch& settings, Senses directions);

  /// The next generation; requires the results of all points chosen before. Positions count from 0
  /// in the order of choice. Empty if the budget is spent or no place is left.
  std::vector<SpacePoint> next();

  /// Stores the result of a point of the last generation; once a point.
  void tell(std::int64_t position, SearchResult result);

  /// True where next() would be empty. False before the last generation has its results.
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
  std::size_t told_ = 0;                   // results in waiting_
  std::vector<SpacePoint> ready_;          // chosen, not yet returned
};

}  // namespace tiersim
