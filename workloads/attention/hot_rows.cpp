#include "workloads/attention/hot_rows.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tiersim {
namespace {

bool is_curve(const std::vector<ReusePoint>& points) {
  for (std::size_t i = 1; i < points.size(); ++i)
    if (points[i].share <= points[i - 1].share || points[i].hit_rate < points[i - 1].hit_rate)
      return false;
  return true;
}

bool covers(const std::vector<ReusePoint>& points, double share) {
  return points.empty() || (points.front().share <= share && share <= points.back().share);
}

}  // namespace

void describe(Fields& f, ReusePoint& c) {
  f.doc("One point of a measured reuse curve.");
  f.required("share", c.share, "Share of a sequence's rows that the cache keeps.",
             in_range(0.0, 1.0));
  f.required("hit_rate", c.hit_rate, "Share of the chosen rows that it then holds.",
             in_range(0.0, 1.0));
}

void describe(Fields& f, HotRows& c) {
  f.doc("Far rows that are often chosen, kept in the near tier.");
  f.importable("index_trace", "Trace of chosen rows, from which `reuse` is measured.");
  f.optional("share", c.share, "Share of a sequence's rows that is kept.", fraction());
  f.optional("rows", c.rows, "Rows that are kept of each sequence, instead of a share.",
             in_range(1, 1 << 24));
  f.optional("hit_rate", c.hit_rate, "Share of the chosen rows that is found there.",
             in_range(0.0, 1.0));
  f.optional("reuse", c.reuse, "Measured instead: hit rates at rising shares.");
  f.optional("overlap", c.overlap,
             "Of `rows` instead: share of a step's chosen rows that the step before it chose, too.",
             in_range(0.0, 1.0));
  f.check(c.share.has_value() != c.rows.has_value(), "share",
          c.share ? "cannot stand beside rows" : "is missing, and so is rows",
          "give one of share and rows");
  const int rates =
      int{c.hit_rate.has_value()} + int{!c.reuse.empty()} + int{c.overlap.has_value()};
  f.check(rates == 1, "hit_rate",
          rates == 0    ? "is missing, and so are reuse and overlap"
          : !c.hit_rate ? "is replaced twice, by reuse and by overlap"
          : c.overlap   ? "cannot stand beside overlap"
                        : "cannot stand beside reuse",
          "give one of hit_rate, reuse, index_trace and overlap");
  f.check(!c.overlap || !c.share, "overlap", "is of a number of rows, and share is none",
          "give rows, or hit_rate");
  f.check(is_curve(c.reuse), "reuse", "is no curve",
          "shares must rise from point to point, and hit rates not fall");
  if (c.reuse.empty()) return;
  f.check(c.share || !c.rows, "reuse", "is a curve over shares, and rows is none",
          "give share, or hit_rate or overlap");
  f.check(!c.share || covers(c.reuse, *c.share), "share",
          fmt::format("{} is outside the measured {} to {}", c.share.value_or(0),
                      c.reuse.front().share, c.reuse.back().share),
          "choose a share inside or measure more; nothing is extrapolated");
}

double HotRows::hits(std::int64_t kept, std::int64_t chosen, std::int64_t context) const {
  if (hit_rate) return *hit_rate;
  if (overlap) {
    if (kept >= context) return 1.0;
    if (kept < chosen) return 0.0;
    return *overlap + (1.0 - *overlap) * static_cast<double>(kept - chosen) /
                          static_cast<double>(context - chosen);
  }
  if (!share || reuse.empty() || !covers(reuse, *share) || !is_curve(reuse)) return 0.0;
  const auto above = std::ranges::lower_bound(reuse, *share, {}, &ReusePoint::share);
  if (above == reuse.begin()) return above->hit_rate;
  const auto below = above - 1;
  const double part = (*share - below->share) / (above->share - below->share);
  return below->hit_rate + part * (above->hit_rate - below->hit_rate);
}

}  // namespace tiersim
