#include "reports/render/line_chart.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "reports/render/axis.hpp"
#include "reports/render/chart_style.hpp"
#include "reports/render/marker.hpp"
#include "reports/render/svg_canvas.hpp"
#include "reports/render/value_axis.hpp"
#include "sim/base/check.hpp"

namespace tiersim {
namespace {

constexpr double kPlotLeft = 52;  // left of each plot: ticks of y
constexpr double kPlotGap = 18;   // between a plot and the next element
constexpr double kAbove = 26;     // above each plot: its title
constexpr double kBelow = 24;     // below each plot: ticks of x
constexpr double kLegendSize = 12;
constexpr double kLegendLine = 20;
constexpr double kSample = 30;  // length of a line sample in the legend

AxisRange range_of(const ChartPanel& panel, std::vector<double> ChartSeries::*values) {
  AxisRange out;
  for (const ChartSeries& series : panel.series)
    for (const double value : series.*values) out.add(value);
  return out;
}

AxisRange range_of_y(const ChartPanel& panel) {
  AxisRange out = range_of(panel, &ChartSeries::y);
  for (const ChartSeries& series : panel.series)
    for (const auto& interval : series.ci95) {
      if (!interval) continue;
      out.add(interval->low);
      out.add(interval->high);
    }
  return out;
}

std::string binary_label(double value) {
  if (value >= 1048576 && std::fmod(value, 1048576) == 0)
    return fmt::format("{:.0f}M", value / 1048576);
  if (value >= 1024 && std::fmod(value, 1024) == 0) return fmt::format("{:.0f}K", value / 1024);
  return fmt::format("{:.6g}", value);
}

// One plot with its scales from values to pixels.
class Plot {
 public:
  Plot(AxisRange x, AxisRange y, bool log_x, SvgPoint corner, double width, double height)
      : x_(x), y_(y), log_x_(log_x), corner_(corner), width_(width), height_(height) {}

  double x(double value) const {
    const auto at = [&](double v) { return log_x_ ? std::log2(v) : v; };
    if (x_.low == x_.high) return corner_.x + width_ / 2;
    constexpr double kInset = 8;  // so that no marker is clipped
    return corner_.x + kInset +
           (width_ - 2 * kInset) * (at(value) - at(x_.low)) / (at(x_.high) - at(x_.low));
  }
  /// Replaces the linear y axis.
  void use(ValueAxis axis) { y_axis_ = std::move(axis); }

  double y(double value) const {
    if (y_axis_) return corner_.y + height_ * (1 - y_axis_->place(value));
    return corner_.y + height_ * (1 - (value - y_.low) / (y_.high - y_.low));
  }

  void axes(SvgCanvas& canvas, const std::set<double>& x_values) const {
    y_ticks(canvas);
    x_ticks(canvas, x_values);
    canvas.rectangle(corner_, width_, height_, "none", kFrame);
  }

  void series(SvgCanvas& canvas, const ChartSeries& series, std::size_t look) const {
    TS_EXPECTS(series.x.size() == series.y.size(), series.x.size(), series.y.size());
    TS_EXPECTS(series.ci95.empty() || series.ci95.size() == series.y.size(), series.ci95.size());
    const Stroke stroke{.colour = palette(look), .width = 1.8, .dash = dash_of(look)};
    std::vector<SvgPoint> run;
    std::vector<SvgPoint> all;
    const auto draw = [&] {
      if (series.joined && run.size() > 1) canvas.polyline(run, stroke);
      run.clear();
    };
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (std::isfinite(series.y[i])) {
        all.push_back(run.emplace_back(SvgPoint{x(series.x[i]), y(series.y[i])}));
      } else {
        draw();
      }
    }
    draw();
    for (std::size_t i = 0; i < series.ci95.size(); ++i)
      if (series.ci95[i] && std::isfinite(series.y[i]))
        whisker(canvas, x(series.x[i]), *series.ci95[i], palette(look));
    for (const SvgPoint& point : all) draw_marker(canvas, look, point);
  }

 private:
  void y_ticks(SvgCanvas& canvas) const {
    if (y_axis_) {
      for (const ValueAxis::Tick& tick : y_axis_->ticks()) y_tick(canvas, tick.value, tick.label);
      return;
    }
    const double step = tick_step(y_.high - y_.low);
    const auto ticks = static_cast<std::int64_t>(std::llround((y_.high - y_.low) / step));
    for (std::int64_t i = 0; i <= ticks; ++i) {
      const double value = y_.low + step * static_cast<double>(i);
      y_tick(canvas, value, decimal_label(value, y_.high));
    }
  }

  void y_tick(SvgCanvas& canvas, double value, const std::string& label) const {
    canvas.line({corner_.x, y(value)}, {corner_.x + width_, y(value)}, kGrid);
    if (label.empty()) return;
    canvas.text({corner_.x - 6, y(value) + 3.5}, label,
                {.size = kTickSize, .anchor = TextAnchor::end});
  }

  void x_ticks(SvgCanvas& canvas, const std::set<double>& x_values) const {
    double free_from = -1;  // px: left end of the free space for labels
    for (const double value : x_values) {
      const std::string label = log_x_ ? binary_label(value) : decimal_label(value, x_.high);
      const double half = text_width(label, kTickSize) / 2;
      canvas.line({x(value), corner_.y + height_}, {x(value), corner_.y + height_ + 4}, kFrame);
      if (x(value) - half < free_from) continue;
      canvas.text({x(value), corner_.y + height_ + 16}, label,
                  {.size = kTickSize, .anchor = TextAnchor::middle});
      free_from = x(value) + half + 4;
    }
  }

  void whisker(SvgCanvas& canvas, double at, const Interval<double>& interval,
               std::string_view colour) const {
    constexpr double kCap = 3;  // half width, px
    const Stroke stroke{.colour = colour, .width = 1};
    const double low = y(interval.low);
    const double high = y(interval.high);
    canvas.line({at, low}, {at, high}, stroke);
    for (const double end : {low, high}) canvas.line({at - kCap, end}, {at + kCap, end}, stroke);
  }

  AxisRange x_;
  AxisRange y_;
  std::optional<ValueAxis> y_axis_;
  bool log_x_;
  SvgPoint corner_;
  double width_;
  double height_;
};

class ChartDrawing {
 public:
  explicit ChartDrawing(const LineChart& chart)
      : chart_(chart),
        columns_(std::max<std::size_t>(1, std::min(chart.columns, chart.panels.size()))),
        plot_width_(columns_ == 1 ? 520 : 250),
        plot_height_(columns_ == 1 ? 300 : 165) {
    width_ = 2 * kMargin + 14 +
             static_cast<double>(columns_) * (kPlotLeft + plot_width_ + kPlotGap) - kPlotGap;
    for (const ChartPanel& panel : chart.panels) {
      const AxisRange y = range_of_y(panel);
      if (!y.empty()) {
        all_y_.add(y.low);
        all_y_.add(y.high);
      }
      for (const ChartSeries& series : panel.series) {
        if (std::ranges::find(names_, series.name) == names_.end()) names_.push_back(series.name);
        if (series.joined) joined_.insert(series.name);
      }
    }
  }

  std::string draw() {
    double y = heading();
    y = legend(y + 22) + 10;
    const double top = y;
    for (std::size_t i = 0; i < chart_.panels.size(); ++i) {
      const std::size_t above = i / columns_;  // complete rows
      const auto column = static_cast<double>(i % columns_);
      const auto row = static_cast<double>(above);
      panel(chart_.panels[i],
            {kMargin + 14 + column * (kPlotLeft + plot_width_ + kPlotGap) + kPlotLeft,
             top + row * (kAbove + plot_height_ + kBelow) + kAbove});
    }
    const std::size_t all_rows = (chart_.panels.size() + columns_ - 1) / columns_;
    const auto rows = static_cast<double>(all_rows);
    y += rows * (kAbove + plot_height_ + kBelow);
    canvas_.text({kMargin + 10, (top + y) / 2}, chart_.y_label,
                 {.size = 12, .anchor = TextAnchor::middle, .turned = -90});
    canvas_.text({(width_ + kPlotLeft) / 2, y + 14}, chart_.x_label,
                 {.size = 12, .anchor = TextAnchor::middle});
    return canvas_.page(width_, y + 14 + kMargin, chart_.title);
  }

 private:
  double heading() {
    double y = kMargin + 14;
    canvas_.text({kMargin, y}, chart_.title, {.size = 15, .bold = true});
    if (chart_.subtitle.empty()) return y;
    for (const std::string& line : text_lines(chart_.subtitle, 11, width_ - 2 * kMargin)) {
      y += 16;
      canvas_.text({kMargin, y}, line, {.size = 11, .colour = kGrey});
    }
    return y;
  }

  double legend(double y) {
    double x = kMargin;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const double width = kSample + 6 + text_width(names_[i], kLegendSize) + 16;
      if (x > kMargin && x + width > width_ - kMargin) {
        x = kMargin;
        y += kLegendLine;
      }
      const Stroke stroke{.colour = palette(i), .width = 1.8, .dash = dash_of(i)};
      if (joined_.contains(names_[i])) canvas_.line({x, y - 4}, {x + kSample, y - 4}, stroke);
      draw_marker(canvas_, i, {x + kSample / 2, y - 4});
      canvas_.text({x + kSample + 6, y}, names_[i], {.size = kLegendSize});
      x += width;
    }
    return y;
  }

  void panel(const ChartPanel& panel, SvgPoint corner) {
    canvas_.text({corner.x + plot_width_ / 2, corner.y - 8}, panel.title,
                 {.size = 12, .anchor = TextAnchor::middle, .bold = true});
    const AxisRange x = range_of(panel, &ChartSeries::x);
    const AxisRange y = chart_.common_y ? all_y_ : range_of_y(panel);
    Plot plot(x, with_ticks(y), chart_.log_x, corner, plot_width_, plot_height_);
    if (chart_.log_y && y.low > 0 && !y.empty()) plot.use(ValueAxis(y));
    std::set<double> values;
    for (const ChartSeries& series : panel.series) values.insert(series.x.begin(), series.x.end());
    plot.axes(canvas_, ticks_of(x, std::move(values)));
    for (const ChartSeries& series : panel.series) {
      const auto look = std::ranges::find(names_, series.name) - names_.begin();
      plot.series(canvas_, series, static_cast<std::size_t>(look));
    }
  }

  // Ticks at the values; at round numbers where there are too many values on a linear axis.
  std::set<double> ticks_of(const AxisRange& x, std::set<double> values) const {
    constexpr std::size_t kMost = 24;
    if (chart_.log_x || values.size() <= kMost) return values;
    const double step = tick_step(x.high - x.low);
    std::set<double> out;
    for (double tick = std::ceil(x.low / step) * step; tick <= x.high; tick += step)
      out.insert(tick);
    return out;
  }

  const LineChart& chart_;
  std::size_t columns_;
  double plot_width_;
  double plot_height_;
  double width_ = 0;
  AxisRange all_y_;
  std::vector<std::string> names_;
  std::set<std::string> joined_;  // names of series with a line in any panel
  SvgCanvas canvas_;
};

}  // namespace

std::string to_svg(const LineChart& chart) {
  return ChartDrawing(chart).draw();
}

}  // namespace tiersim
