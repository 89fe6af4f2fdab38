#pragma once
// A near-tier cache of far rows that are chosen again and again: it keeps a share of every
// sequence's rows, and a share of the chosen rows is found there.
//   Counted   its footprint; hits, read from it by the attention kernel, row by row; misses,
//             fetched and written near once, where they land.
//   Ignored   that a missed row takes the place of another: the slot that it lands in becomes the
//             cache's, so nothing is copied a second time; the table of what is cached; warm-up.
//   Hit rate  a number, or a reuse curve measured on a trace of chosen rows (index_trace), between
//             whose points it is linear. Beyond its points nothing is known, and asking is an
//             error. A curve holds for the budget and the page that its trace was recorded with.
#include <optional>
#include <vector>

#include "sim/config/fields.hpp"

namespace tiersim {

/// Share of the chosen rows that a cache of this share of the context holds.
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

  /// Of the chosen rows, at this share; 0 where the settings are incomplete.
  double hits() const;

  friend bool operator==(const HotRows&, const HotRows&) = default;
};
void describe(Fields& f, HotRows& c);

}  // namespace tiersim
