#include "workloads/attention/hot_rows.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tiersim {
namespace {

// Where a point lies on the axis of the cache's size; none where it is of the other axis.
std::optional<double> size_of(const ReusePoint& point, bool by_rows) {
  if (!by_rows) return point.share;
  return point.rows ? std::optional(static_cast<double>(*point.rows)) : std::nullopt;
}

bool is_of_axis(const std::vector<ReusePoint>& points, bool by_rows) {
  return std::ranges::all_of(
      points, [&](const ReusePoint& point) { return size_of(point, by_rows).has_value(); });
}

// Numbers of rows may repeat where the hit rate does, as those of small shares of a short trace.
bool is_curve(const std::vector<ReusePoint>& points, bool by_rows) {
  for (std::size_t i = 1; i < points.size(); ++i) {
    const ReusePoint& before = points[i - 1];
    const ReusePoint& here = points[i];
    if (size_of(here, by_rows) < size_of(before, by_rows) || here.hit_rate < before.hit_rate)
      return false;
    if (size_of(here, by_rows) == size_of(before, by_rows) &&
        (!by_rows || here.hit_rate > before.hit_rate))
      return false;
  }
  return true;
}

bool covers(const std::vector<ReusePoint>& points, bool by_rows, double size) {
  return points.empty() ||
         (size_of(points.front(), by_rows) <= size && size <= size_of(points.back(), by_rows));
}

}  // namespace

void describe(Fields& f, ReusePoint& c) {
  f.doc("One point of a measured reuse curve.");
  f.optional("share", c.share, "Share of a sequence's rows that the cache keeps.",
             in_range(0.0, 1.0));
  f.optional("rows", c.rows, "Rows of a sequence that the cache keeps.", in_range(0, 1 << 24));
  f.required("hit_rate", c.hit_rate, "Share of the chosen rows that it then holds.",
             in_range(0.0, 1.0));
  f.check(c.share || c.rows, "share", "is missing, and so is rows", "give one of share and rows");
}

void describe(Fields& f, HotRows& c) {
  f.doc("Far rows that are often chosen, kept in the near tier.");
  f.importable("index_trace", "Trace of chosen rows, from which `reuse` is measured.");
  f.optional("share", c.share, "Share of a sequence's rows that is kept.", fraction());
  f.optional("rows", c.rows, "Rows that are kept of each sequence, instead of a share.",
             in_range(1, 1 << 24));
  f.optional("hit_rate", c.hit_rate, "Share of the chosen rows that is found there.",
             in_range(0.0, 1.0));
  f.optional("reuse", c.reuse, "Measured instead: hit rates at rising shares, or numbers of rows.");
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
  if (c.reuse.empty() || c.share.has_value() == c.rows.has_value()) return;
  const bool by_rows = c.rows.has_value();
  const std::string axis = by_rows ? "rows" : "share";
  f.check(is_of_axis(c.reuse, by_rows), "reuse", fmt::format("has points without {}", axis),
          fmt::format("give {} at every point, since the cache's size is given so", axis));
  if (!is_of_axis(c.reuse, by_rows)) return;
  f.check(is_curve(c.reuse, by_rows), "reuse", "is no curve",
          by_rows ? "rows must rise from point to point, and hit rates not fall"
                  : "shares must rise from point to point, and hit rates not fall");
  const double size = by_rows ? static_cast<double>(*c.rows) : *c.share;
  f.check(covers(c.reuse, by_rows, size), axis,
          fmt::format("{} is outside the measured {} to {}", size,
                      *size_of(c.reuse.front(), by_rows), *size_of(c.reuse.back(), by_rows)),
          fmt::format("choose {} inside or measure more; nothing is extrapolated",
                      by_rows ? "a number" : "a share"));
}

double HotRows::hits(std::int64_t kept, std::int64_t chosen, std::int64_t context) const {
  if (hit_rate) return *hit_rate;
  if (overlap) {
    if (kept >= context) return 1.0;
    if (kept < chosen) return 0.0;
    return *overlap + (1.0 - *overlap) * static_cast<double>(kept - chosen) /
                          static_cast<double>(context - chosen);
  }
  if (reuse.empty() || share.has_value() == rows.has_value()) return 0.0;
  const bool by_rows = rows.has_value();
  const double size = by_rows ? static_cast<double>(*rows) : *share;
  if (!is_of_axis(reuse, by_rows) || !covers(reuse, by_rows, size) || !is_curve(reuse, by_rows))
    return 0.0;
  const auto at = [&](const ReusePoint& point) { return size_of(point, by_rows).value_or(0); };
  const auto above = std::ranges::lower_bound(reuse, size, {}, at);
  if (above == reuse.begin()) return above->hit_rate;
  const auto below = above - 1;
  const double part = (size - at(*below)) / (at(*above) - at(*below));
  return below->hit_rate + part * (above->hit_rate - below->hit_rate);
}

}  // namespace tiersim
