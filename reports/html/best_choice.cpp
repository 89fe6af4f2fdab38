#include "reports/html/best_choice.hpp"

#include <algorithm>
#include <cmath>

namespace tiersim {
namespace {

Interval<double> hull(const Competitor& one) {
  return one.ci95.value_or(Interval<double>{one.value, one.value});
}

bool overlap(const Competitor& a, const Competitor& b) {
  return hull(a).low <= hull(b).high && hull(b).low <= hull(a).high;
}

void sort_and_compare(std::vector<Competitor>& all, bool maximize) {
  std::ranges::stable_sort(all, [&](const Competitor& a, const Competitor& b) {
    return maximize ? a.value > b.value : a.value < b.value;
  });
  for (Competitor& one : all) one.equals_best = overlap(one, all.front());
}

}  // namespace

std::vector<BestOfCell> best_of(const PointTable& table, const PointsView& view,
                                const BestQuestion& question, std::size_t metric, bool maximize) {
  // The cell of a combination, as a number with one digit for each column, in the shown order.
  std::vector<std::vector<std::size_t>> place_of;  // by column of `by`: label -> place in the order
  std::size_t cells = 1;
  for (const std::size_t c : question.by) {
    const LabelColumn& column = view.columns[c];
    auto& places = place_of.emplace_back(column.labels.size());
    for (std::size_t i = 0; i < column.order.size(); ++i) places[column.order[i]] = i;
    cells *= column.labels.size();
  }
  std::vector<BestOfCell> out(cells);
  for (std::size_t i = 0; i < cells; ++i) {
    std::size_t rest = i;
    out[i].labels.resize(question.by.size());
    for (std::size_t b = question.by.size(); b-- > 0;) {
      const LabelColumn& column = view.columns[question.by[b]];
      out[i].labels[b] = column.order[rest % column.labels.size()];
      rest /= column.labels.size();
    }
  }
  const MetricColumn& values = view.metrics[metric];
  for (std::size_t p = 0; p < table.points.size(); ++p) {
    const double value = values.values[p];
    if (std::isnan(value) || (!table.feasible.empty() && !table.feasible[p])) continue;
    std::size_t cell = 0;
    for (std::size_t b = 0; b < question.by.size(); ++b)
      cell = cell * place_of[b].size() + place_of[b][view.columns[question.by[b]].at[p]];
    Competitor here{.label = view.columns[question.best].at[p], .point = p, .value = value};
    if (!values.low.empty() && !std::isnan(values.low[p]))
      here.ci95 = {values.low[p], values.high[p]};
    auto& all = out[cell].competitors;
    const auto same = std::ranges::find(all, here.label, &Competitor::label);
    if (same == all.end())
      all.push_back(here);
    else if (maximize ? value > same->value : value < same->value)
      *same = here;
  }
  for (BestOfCell& cell : out)
    if (!cell.competitors.empty()) sort_and_compare(cell.competitors, maximize);
  return out;
}

}  // namespace tiersim
