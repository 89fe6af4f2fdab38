#include "reports/papers/early_exit/cell_view.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/check.hpp"

namespace tiersim {
namespace {

double off(double simulated, double paper) {
  return std::abs(simulated / paper - 1);
}

CellView view_of(const CellResults& r, std::size_t m, std::size_t c) {
  const ExitModel& model = r.targets.models[m];
  const ExitModelRuns& runs = r.models[m];
  CellView v{.model = &model,
             .cell = &model.cells[c],
             .full = &model.cells.front(),
             .runs = &runs,
             .at = &runs.cells[c],
             .status = {},
             .middle = r.targets.correlations.size() / 2,
             .explained = {},
             .scaling = {}};
  v.in_flight = in_flight(*v.cell);
  v.gpu_s = v.at->gpu_s(v.middle);
  v.gpu_share = v.gpu_s / v.cell->latency_s;
  v.host_s = host_needed_s(*v.cell, v.gpu_s);
  v.bound = bound_without_layers(*v.full, runs.layers_s);
  v.explained = explained_share(*v.cell, *v.full, runs.layers_s);
  v.scaling = scaling_share(*v.cell, *v.full);
  const bool near = off(v.lowest(), v.cell->tokens_per_s) <= r.targets.near &&
                    off(v.highest(), v.cell->tokens_per_s) <= r.targets.near;
  v.status = c == 0 ? "input" : near ? "prediction" : "unexplained";
  return v;
}

}  // namespace

double CellView::simulated_speedup(std::size_t correlation) const {
  return at->own[std::min(correlation, at->own.size() - 1)].tokens_per_s /
         runs->cells.front().own.front().tokens_per_s;
}

double CellView::lowest() const {
  return std::ranges::min_element(at->own, {}, &ExitServed::tokens_per_s)->tokens_per_s;
}
double CellView::highest() const {
  return std::ranges::max_element(at->own, {}, &ExitServed::tokens_per_s)->tokens_per_s;
}

std::string CellView::id(const std::string& paper, const std::string& quantity) const {
  return fmt::format("{}.{}.{}.{}", paper, quantity, model->label, name_of(*cell));
}

std::vector<CellView> views_of(const CellResults& results) {
  const auto& models = results.targets.models;
  TS_EXPECTS(results.models.size() == models.size(), results.models.size(), models.size());
  std::vector<CellView> out;
  for (std::size_t m = 0; m < models.size(); ++m) {
    TS_EXPECTS(results.models[m].cells.size() == models[m].cells.size(), m);
    for (std::size_t c = 0; c < models[m].cells.size(); ++c) out.push_back(view_of(results, m, c));
  }
  return out;
}

}  // namespace tiersim
