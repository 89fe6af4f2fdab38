#pragma once
// A near-tier cache of far rows that are chosen repeatedly: it keeps a share of every sequence's
// rows, or a number of them, and a share of the chosen rows hits it.
//   Counted   its footprint; hits, which the attention kernel reads from it row by row; misses,
//             which are fetched and written to the near tier once.
//   Ignored   the eviction by a missed row: the slot that it is fetched to becomes the cache's, so
//             there is no second copy; the table of cached rows; warm-up.
//   Hit rate  a number, or a reuse curve measured on a trace of chosen rows (index_trace), linear
//             between its points, over shares or over numbers of rows, as the size is given. A size
//             beyond its points is an error, since nothing is known there. A curve holds for the
//             budget and the page that its trace was recorded with, and over numbers of rows for
//             contexts about as long.
//             Or, of a number of rows, a law of `overlap`: of a step's k chosen rows a share p is
//             chosen again by the next step, and the others are drawn from all n - k rows that
//             this step did not choose, each as likely. An LRU cache of m rows then holds the k
//             chosen ones and the m - k last left ones, and the expected hit rate is
//               p + (1 - p) (m - k) / (n - k).
//             Rows that were left lately are chosen again more often than others in models, so
//             the law is a lower limit for this p; 1 is the upper one.
//   Size      `rows` slots of a sequence are reserved whole, however short it is.
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/config/fields.hpp"

namespace tiersim {

/// Hit rate, as a share of the chosen rows, of a cache that holds `share` of the context, or so
/// many rows of it. A trace gives both.
struct ReusePoint {
  std::optional<double> share = {};
  double hit_rate = 0;
  std::optional<std::int64_t> rows = {};

  friend bool operator==(const ReusePoint&, const ReusePoint&) = default;
};
void describe(Fields& f, ReusePoint& c);

struct HotRows {
  std::optional<double> share = {};
  std::optional<std::int64_t> rows = {};
  std::optional<double> hit_rate = {};
  std::vector<ReusePoint> reuse = {};
  std::optional<double> overlap = {};

  /// Hit rate of a step that chooses `chosen` of `context` rows while `kept` are kept; 0 where the
  /// settings are incomplete, or fewer are kept than `overlap` speaks of.
  double hits(std::int64_t kept, std::int64_t chosen, std::int64_t context) const;

  friend bool operator==(const HotRows&, const HotRows&) = default;
};
void describe(Fields& f, HotRows& c);

}  // namespace tiersim
