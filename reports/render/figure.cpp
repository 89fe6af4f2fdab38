#include "reports/render/figure.hpp"

#include <algorithm>
#include <cmath>

namespace tiersim {

bool FigurePoint::has_interval() const {
  return std::isfinite(low) && std::isfinite(high);
}

bool FigurePoint::has_x_interval() const {
  return std::isfinite(x_low) && std::isfinite(x_high);
}

void FigurePoint::set_interval(const std::optional<Interval<double>>& ci95, double factor) {
  if (!ci95) return;
  low = ci95->low * factor;
  high = ci95->high * factor;
}

void FigurePoint::set_x_interval(const std::optional<Interval<double>>& ci95, double factor) {
  if (!ci95) return;
  x_low = ci95->low * factor;
  x_high = ci95->high * factor;
}

void number_styles(Figure& figure) {
  std::vector<std::string> names;
  for (FigurePanel& panel : figure.panels)
    for (FigureSeries& series : panel.series) {
      const auto known = std::ranges::find(names, series.name);
      series.style = static_cast<std::size_t>(known - names.begin());
      if (known == names.end()) names.push_back(series.name);
    }
}

}  // namespace tiersim
