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
  f.required("share", c.share, "Share of a sequence's rows that is kept.", fraction());
  f.optional("hit_rate", c.hit_rate, "Share of the chosen rows that is found there.",
             in_range(0.0, 1.0));
  f.optional("reuse", c.reuse, "Measured instead: hit rates at rising shares.");
  f.check(c.hit_rate.has_value() == c.reuse.empty(), "hit_rate",
          c.hit_rate ? "cannot stand beside reuse" : "is missing, and so is reuse",
          "give one of hit_rate, reuse and index_trace");
  f.check(is_curve(c.reuse), "reuse", "is no curve",
          "shares must rise from point to point, and hit rates not fall");
  if (c.reuse.empty()) return;
  f.check(covers(c.reuse, c.share), "share",
          fmt::format("{} is outside the measured {} to {}", c.share, c.reuse.front().share,
                      c.reuse.back().share),
          "choose a share inside or measure more; nothing is extrapolated");
}

double HotRows::hits() const {
  if (hit_rate) return *hit_rate;
  if (reuse.empty() || !covers(reuse, share) || !is_curve(reuse)) return 0.0;
  const auto above = std::ranges::lower_bound(reuse, share, {}, &ReusePoint::share);
  if (above == reuse.begin()) return above->hit_rate;
  const auto below = above - 1;
  const double part = (share - below->share) / (above->share - below->share);
  return below->hit_rate + part * (above->hit_rate - below->hit_rate);
}

}  // namespace tiersim
