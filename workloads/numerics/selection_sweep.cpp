#include "workloads/numerics/selection_sweep.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/check.hpp"

namespace tiersim::numerics {
namespace {

double figure_of(const Quality& quality, Figure figure) {
  return figure == Figure::recall ? quality.recall
         : figure == Figure::mass ? quality.mass
                                  : quality.error;
}

}  // namespace

Quality SweepPoint::mean() const {
  std::vector<Quality> means;
  for (const auto& head : heads) means.push_back(mean_of(head));
  return mean_of(means);
}

Quality SweepPoint::deviation() const {
  const Quality centre = mean();
  Quality out;
  if (heads.size() < 2) return out;
  const double each = 1 / static_cast<double>(heads.size() - 1);
  for (const auto& head : heads) {
    const Quality one = mean_of(head);
    out.recall += (one.recall - centre.recall) * (one.recall - centre.recall) * each;
    out.mass += (one.mass - centre.mass) * (one.mass - centre.mass) * each;
    out.error += (one.error - centre.error) * (one.error - centre.error) * each;
  }
  return {
      .recall = std::sqrt(out.recall), .mass = std::sqrt(out.mass), .error = std::sqrt(out.error)};
}

std::vector<double> SweepPoint::recalls() const {
  std::vector<double> out;
  for (const auto& head : heads) out.push_back(mean_of(head).recall);
  return out;
}

SweepPoint measure(const std::vector<HeadCase>& heads, const SelectionMethod& method, double share,
                   Measured measured) {
  SweepPoint out{.name = method.name,
                 .setting = method.setting,
                 .share = share,
                 .screening_bytes = method.screening_bytes(share),
                 .heads = {}};
  for (const HeadCase& head : heads)
    out.heads.push_back(qualities(head.sample, head.exact, *method.make(head), share, measured));
  return out;
}

PairedDifference paired_difference(const std::vector<double>& a, const std::vector<double>& b) {
  TS_EXPECTS(a.size() == b.size() && !a.empty(), a.size(), b.size());
  const double count = static_cast<double>(a.size());
  PairedDifference out;
  for (std::size_t i = 0; i < a.size(); ++i) out.mean += (b[i] - a[i]) / count;
  if (a.size() < 2) return out;
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    squares += (b[i] - a[i] - out.mean) * (b[i] - a[i] - out.mean);
  out.standard_error = std::sqrt(squares / (count - 1) / count);
  return out;
}

Table table_of(std::string id, std::string title, const std::vector<SweepPoint>& points) {
  Table out{.id = std::move(id),
            .title = std::move(title),
            .columns = columns_by_cells({"method", "setting", "screening B/token", "share of rows",
                                         "recall", "recall sd", "mass", "mass sd", "output error",
                                         "output error sd"}),
            .rows = {}};
  for (const SweepPoint& point : points) {
    const Quality mean = point.mean();
    const Quality spread = point.deviation();
    out.rows.push_back({point.name, point.setting, point.screening_bytes, point.share, mean.recall,
                        spread.recall, mean.mass, spread.mass, mean.error, spread.error});
  }
  out.notes = {
      "recall: of as many rows with the highest exact scores, the share chosen; mass: exact "
      "attention on the chosen rows; output error: |o - o_exact| / |o_exact|",
      "means over heads of means over decoded positions; sd: standard deviation over heads"};
  return out;
}

Curve curve_of(std::string id, std::string title, const std::vector<SweepPoint>& points,
               Figure figure, Over over) {
  Curve out{.id = std::move(id),
            .title = std::move(title),
            .x_label = over == Over::share ? "share of rows" : "screening bytes a token and head",
            .y_label = figure == Figure::recall ? "recall of the highest scores"
                       : figure == Figure::mass ? "attention on the chosen rows"
                                                : "relative error of the output",
            .lines = {}};
  for (const SweepPoint& point : points) {
    auto line = std::ranges::find(out.lines, point.name, &Line::name);
    if (line == out.lines.end())
      line = out.lines.insert(line, Line{.name = point.name, .x = {}, .y = {}});
    line->x.push_back(over == Over::share ? point.share : point.screening_bytes);
    line->y.push_back(figure_of(point.mean(), figure));
  }
  return out;
}

}  // namespace tiersim::numerics
