#pragma once
// A near-tier cache of far rows that are chosen repeatedly: it keeps a share of every sequence's
// rows, and a share of the chosen rows hits it.
//   Counted   its footprint; hits, which the attention kernel reads from it row by row; misses,
//             which are fetched and written to the near tier once.
//   Ignored   the eviction by a missed row: the slot that it is fetched to becomes the cache's, so
//             there is no second copy; the table of cached rows; warm-up.
//   Hit rate  a number, or a reuse curve measured on a trace of chosen rows (index_trace), linear
//             between its points. A share beyond its points is an error, since nothing is known
//             there. A curve holds for the budget and the page that its trace was recorded with.
#include <optional>
#include <vector>

#include "sim/config/fields.hpp"

namespace tiersim {

/// Hit rate, as a share of the chosen rows, of a cache that holds `share` of the context.
struct ReusePoint {
  double share = 0;
  double hit_rate = 0;

  friend bool operator==(const ReusePoint&, const ReusePoint&) = default;
};
void describe(Fields& f, ReusePoint& c);

struct HotRows {
  double share = 0;
  std::optional<double> hit_rate = {};
  std::vector<ReusePoint> reuse = {};

  /// Hit rate of the chosen rows, at this share; 0 where the settings are incomplete.
  double hits() const;

  friend bool operator==(const HotRows&, const HotRows&) = default;
};
void describe(Fields& f, HotRows& c);

}  // namespace tiersim
