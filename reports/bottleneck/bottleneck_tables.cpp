#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/bottleneck/bottleneck_report.hpp"
#include "reports/footprint/point_labels.hpp"
#include "reports/footprint/point_object.hpp"
#include "reports/footprint/shares_text.hpp"
#include "reports/summary/summary_parts.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;

struct CauseCount {
  std::string cause = {};
  std::size_t points = 0;
  double mean = 0;  // share, mean over all points
};

std::vector<CauseCount> count(const std::vector<Bottleneck>& all) {
  std::vector<CauseCount> out;
  for (const std::string& cause : causes_of(all)) {
    CauseCount& entry = out.emplace_back();
    entry.cause = cause;
    for (const Bottleneck& point : all) {
      if (point.bound_by == cause) ++entry.points;
      for (const CauseShare& share : point.shares)
        if (share.cause == cause) entry.mean += share.share / static_cast<double>(all.size());
    }
  }
  return out;
}

// Points of the most frequent cause first, and within a cause those with the largest share.
std::vector<Bottleneck> sorted(std::vector<Bottleneck> all) {
  const std::vector<std::string> order = causes_of(all);
  const auto rank = [&](const Bottleneck& point) {
    return std::ranges::find(order, point.bound_by) - order.begin();
  };
  std::ranges::stable_sort(all, [&](const Bottleneck& a, const Bottleneck& b) {
    return rank(a) != rank(b) ? rank(a) < rank(b) : a.share() > b.share();
  });
  return all;
}

Cell share_cell(double share) {
  return {share, share_text(share)};
}

Cell time_cell(std::optional<double> seconds) {
  return seconds ? Cell(*seconds, time_text(*seconds)) : Cell({}, "-");
}

Table cause_table(const std::vector<Bottleneck>& all) {
  Table table{.title = "What bounds the points",
              .columns = {{"cause", Align::left}, {"bounds points"}, {"of all"}, {"mean share"}}};
  for (const CauseCount& cause : count(all))
    table.add({printable(cause.cause), cause.points,
               share_cell(static_cast<double>(cause.points) / static_cast<double>(all.size())),
               share_cell(cause.mean)});
  return table;
}

std::vector<std::string> notes(const std::vector<Bottleneck>& all) {
  std::vector<std::string> out;
  const auto is_of_chain = [](const Bottleneck& point) { return point.of_chain; };
  if (std::ranges::any_of(all, is_of_chain))
    out.emplace_back(
        "share: of the longest chain of operations that waits for it; next: what would bound it "
        "without any wait for the first, and which share of the bound that is; at most: how many "
        "times faster the bound is then");
  if (!std::ranges::all_of(all, is_of_chain))
    out.emplace_back(
        "of a server: shares of the time that a channel, GPU or host works; several "
        "work at once, so they do not add up");
  return out;
}

Table point_table(const PointTable& points, const std::vector<Bottleneck>& all) {
  constexpr std::size_t kMost = 40;
  const PointLabels labels(points);
  Table table{.title = "Points, by what bounds them", .columns = labels.columns()};
  table.columns.insert(table.columns.end(), {{.title = "step", .csv = "step [s]", .unit = "s"},
                                             {.title = "bound", .csv = "bound [s]", .unit = "s"},
                                             {"bounded by", Align::left},
                                             {"share"},
                                             {"next", Align::left},
                                             {"its share"},
                                             {"at most"}});
  for (const Bottleneck& point : sorted(all)) {
    const auto& next = point.next;
    Row row = labels.row(point.point);
    row.insert(row.end(),
               {time_cell(point.time_s), time_cell(point.bound_s), printable(point.bound_by),
                share_cell(point.share()), !next ? "-" : printable(next->cause),
                !next ? Cell("-") : share_cell(next->share), times_cell(point.most_gain)});
    table.add(std::move(row));
  }
  table.people_rows = kMost;
  table.notes = notes(all);
  if (all.size() > kMost)
    table.notes.push_back(fmt::format("{} of {} points; all: --format csv", kMost, all.size()));
  for (std::string& note : notes_on_missing(
           points,
           [](const RunRecord& record) {
             return !record.bound_shares.empty() || record.serving.has_value();
           },
           "what bounds it", "`keep: results` and a `reading` beyond accounting"))
    table.notes.push_back(std::move(note));
  return table;
}

}  // namespace

std::vector<Table> bottleneck_tables(const PointTable& table) {
  const std::vector<Bottleneck> all = bottlenecks(table);
  std::vector<Table> out;
  if (all.size() > 1) out.push_back(cause_table(all));
  out.push_back(point_table(table, all));
  return out;
}

std::string bottleneck_json(const PointTable& table) {
  const std::vector<Bottleneck> all = bottlenecks(table);
  Json causes = Json::array();
  for (const CauseCount& cause : count(all))
    causes.push_back(
        {{"cause", cause.cause}, {"points", cause.points}, {"mean_share", cause.mean}});
  Json points = Json::array();
  auto of = all.begin();
  for (std::size_t p = 0; p < table.points.size(); ++p) {
    Json& entry = points.emplace_back(point_object<Json>(table, p));
    if (of == all.end() || of->point != p) continue;
    entry["bound_by"] = of->bound_by;
    entry["share"] = of->share();
    if (of->next) entry["next"] = {{"cause", of->next->cause}, {"share", of->next->share}};
    if (of->most_gain) entry["most_gain"] = *of->most_gain;
    if (of->time_s) entry["step_time_s"] = *of->time_s;
    if (of->bound_s) entry["bound_s"] = *of->bound_s;
    entry["shares"] = Json::object();
    for (const CauseShare& share : of->shares) entry["shares"][share.cause] = share.share;
    ++of;
  }
  const Json out{
      {"report", "bottleneck"}, {"causes", std::move(causes)}, {"points", std::move(points)}};
  return out.dump(2) + '\n';
}

}  // namespace tiersim
