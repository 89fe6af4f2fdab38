#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "reports/render/axis.hpp"
#include "reports/render/chart_style.hpp"
#include "reports/render/figure_svg.hpp"
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
constexpr double kLegendRow = 20;
constexpr double kSample = 30;  // length of a line sample in the legend

AxisRange range_of_x(const FigurePanel& panel) {
  AxisRange out;
  for (const FigureSeries& series : panel.series)
    for (const FigurePoint& point : series.points) out.add(point.x);
  if (panel.x.ticks.empty()) return out;
  out.add(panel.x.low);  // named places, of which some may have no point
  out.add(panel.x.high);
  return out;
}

AxisRange range_of_y(const FigurePanel& panel) {
  AxisRange out;
  for (const FigureSeries& series : panel.series)
    for (const FigurePoint& point : series.points) {
      out.add(point.y);
      out.add(point.low);
      out.add(point.high);
    }
  for (const FigureLimit& limit : panel.limits) out.add(limit.y);
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
    constexpr double kPlotInset = 8;  // so that no marker is clipped
    return corner_.x + kPlotInset +
           (width_ - 2 * kPlotInset) * (at(value) - at(x_.low)) / (at(x_.high) - at(x_.low));
  }
  /// Replaces the linear y axis.
  void use(ValueAxis axis) { y_axis_ = std::move(axis); }

  double y(double value) const {
    if (y_axis_) return corner_.y + height_ * (1 - y_axis_->place(value));
    return corner_.y + height_ * (1 - (value - y_.low) / (y_.high - y_.low));
  }

  /// `names` are the labels of some values.
  using Ticks = std::vector<std::pair<double, std::string>>;
  void axes(SvgCanvas& canvas, const std::set<double>& x_values, const Ticks& names) const {
    y_ticks(canvas);
    x_ticks(canvas, x_values, names);
    canvas.rectangle(corner_, width_, height_, "none", kFrame);
  }

  /// The line goes through everything, and its label lies on top of everything.
  void limit(SvgCanvas& canvas, const FigureLimit& limit) const {
    constexpr double kAboveLine = 4;
    const bool low = y(limit.y) > corner_.y + kTickSize + kAboveLine;  // there is room above it
    canvas.line({corner_.x, y(limit.y)}, {corner_.x + width_, y(limit.y)},
                {.colour = "#000000", .width = 1.2, .dash = "6 4"});
    canvas.text({corner_.x + 6, y(limit.y) + (low ? -kAboveLine : kTickSize + 3)}, limit.label,
                {.size = kTickSize, .bold = true, .halo = true});
  }

  void series(SvgCanvas& canvas, const FigureSeries& series) const {
    TS_EXPECTS(series.mark != SeriesMark::bars, series.name);
    const std::size_t look = series.style;
    const bool guide = series.role == SeriesRole::guide;
    const Stroke stroke =
        guide ? kGuide : Stroke{.colour = palette(look), .width = 1.8, .dash = dash_of(look)};
    std::vector<SvgPoint> run;
    std::vector<SvgPoint> all;
    const auto draw = [&] {
      if (series.mark == SeriesMark::line && run.size() > 1) canvas.polyline(run, stroke);
      run.clear();
    };
    for (const FigurePoint& point : series.points) {
      if (std::isfinite(point.y)) {
        all.push_back(run.emplace_back(SvgPoint{x(point.x), y(point.y)}));
      } else {
        draw();
      }
    }
    draw();
    for (const FigurePoint& point : series.points)
      if (point.has_interval() && std::isfinite(point.y)) whisker(canvas, point, palette(look));
    if (guide) return;
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

  void x_ticks(SvgCanvas& canvas, const std::set<double>& x_values, const Ticks& names) const {
    double free_from = -1;  // px: left end of the free space for labels
    const bool binary = log_x_ || std::ranges::all_of(x_values, [](double value) {
                          return value >= 1024 && std::fmod(value, 1024) == 0;
                        });
    for (const double value : x_values) {
      const auto named = std::ranges::find(names, value, &std::pair<double, std::string>::first);
      const std::string label = named != names.end() ? named->second
                                : binary             ? binary_label(value)
                                                     : decimal_label(value, x_.high);
      const double half = text_width(label, kTickSize) / 2;
      canvas.line({x(value), corner_.y + height_}, {x(value), corner_.y + height_ + 4}, kFrame);
      if (x(value) - half < free_from) continue;
      canvas.text({x(value), corner_.y + height_ + 16}, label,
                  {.size = kTickSize, .anchor = TextAnchor::middle});
      free_from = x(value) + half + 4;
    }
  }

  void whisker(SvgCanvas& canvas, const FigurePoint& point, std::string_view colour) const {
    constexpr double kCap = 3;  // half width, px
    const Stroke stroke{.colour = colour, .width = 1};
    const double at = x(point.x);
    const double low = y(point.low);
    const double high = y(point.high);
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

class LineDrawing {
 public:
  explicit LineDrawing(const Figure& figure)
      : figure_(figure),
        columns_(std::max<std::size_t>(1, std::min(figure.columns, figure.panels.size()))),
        plot_width_(columns_ == 1 ? 520 : 250),
        plot_height_(columns_ == 1 ? 300 : 165) {
    width_ = 2 * kMargin + 14 +
             static_cast<double>(columns_) * (kPlotLeft + plot_width_ + kPlotGap) - kPlotGap;
    for (const FigurePanel& panel : figure.panels) {
      for (const auto& [range, all] :
           {std::pair(range_of_y(panel), &all_y_), std::pair(range_of_x(panel), &all_x_)}) {
        all->add(range.low);  // an empty range is infinite, which is ignored
        all->add(range.high);
      }
      for (const FigureSeries& series : panel.series) {
        if (series.name.empty() || series.role == SeriesRole::guide) continue;
        const auto known = std::ranges::find(named_, series.name, &Entry::name);
        Entry& entry =
            known == named_.end() ? named_.emplace_back(Entry{series.name, series.style}) : *known;
        entry.joined = entry.joined || series.mark == SeriesMark::line;
      }
    }
  }

  std::string draw() {
    double y = heading();
    y = legend(y + 22) + 10;
    const double top = y;
    for (std::size_t i = 0; i < figure_.panels.size(); ++i) {
      const std::size_t above = i / columns_;  // complete rows
      const auto column = static_cast<double>(i % columns_);
      const auto row = static_cast<double>(above);
      panel(figure_.panels[i],
            {kMargin + 14 + column * (kPlotLeft + plot_width_ + kPlotGap) + kPlotLeft,
             top + row * (kAbove + plot_height_ + kBelow) + kAbove});
    }
    const std::size_t all_rows = (figure_.panels.size() + columns_ - 1) / columns_;
    const auto rows = static_cast<double>(all_rows);
    y += rows * (kAbove + plot_height_ + kBelow);
    if (!figure_.panels.empty()) {
      canvas_.text({kMargin + 10, (top + y) / 2}, figure_.panels.front().y.label,
                   {.size = 12, .anchor = TextAnchor::middle, .turned = -90});
      canvas_.text({(width_ + kPlotLeft) / 2, y + 14}, figure_.panels.front().x.label,
                   {.size = 12, .anchor = TextAnchor::middle});
    }
    return canvas_.page(width_, y + 14 + kMargin, figure_.title);
  }

 private:
  double heading() {
    double y = kMargin + 14;
    canvas_.text({kMargin, y}, figure_.title, {.size = 15, .bold = true});
    if (figure_.subtitle.empty()) return y;
    for (const std::string& line : text_lines(figure_.subtitle, 11, width_ - 2 * kMargin)) {
      y += 16;
      canvas_.text({kMargin, y}, line, {.size = 11, .colour = kGrey});
    }
    return y;
  }

  double legend(double y) {
    double x = kMargin;
    for (const Entry& entry : named_) {
      const double width = kSample + 6 + text_width(entry.name, kLegendSize) + 16;
      if (x > kMargin && x + width > width_ - kMargin) {
        x = kMargin;
        y += kLegendRow;
      }
      const Stroke stroke{
          .colour = palette(entry.style), .width = 1.8, .dash = dash_of(entry.style)};
      if (entry.joined) canvas_.line({x, y - 4}, {x + kSample, y - 4}, stroke);
      draw_marker(canvas_, entry.style, {x + kSample / 2, y - 4});
      canvas_.text({x + kSample + 6, y}, entry.name, {.size = kLegendSize});
      x += width;
    }
    return y;
  }

  void panel(const FigurePanel& panel, SvgPoint corner) {
    canvas_.text({corner.x + plot_width_ / 2, corner.y - 8}, panel.title,
                 {.size = 12, .anchor = TextAnchor::middle, .bold = true});
    const AxisRange x = figure_.common_x ? all_x_ : range_of_x(panel);
    const AxisRange y = figure_.common_y ? all_y_ : range_of_y(panel);
    const bool log_x = panel.x.log_base != 0;
    Plot plot(x, with_ticks(y), log_x, corner, plot_width_, plot_height_);
    if (panel.y.log_base != 0 && y.low > 0 && !y.empty()) plot.use(ValueAxis(y));
    std::set<double> values;
    for (const FigureSeries& series : panel.series)
      if (series.role != SeriesRole::guide)
        for (const FigurePoint& point : series.points) values.insert(point.x);
    if (!panel.x.ticks.empty()) values.clear();
    for (const auto& [value, label] : panel.x.ticks) values.insert(value);
    plot.axes(canvas_, ticks_of(x, std::move(values), log_x), panel.x.ticks);
    for (const FigureSeries& series : panel.series) plot.series(canvas_, series);
    for (const FigureLimit& limit : panel.limits) plot.limit(canvas_, limit);
  }

  // Ticks stand at the values. Where there are more values than ticks that can be told apart, they
  // stand at round numbers.
  static std::set<double> ticks_of(const AxisRange& x, std::set<double> values, bool log_x) {
    constexpr std::size_t kMost = 24;
    if (values.size() <= kMost) return values;
    std::set<double> out;
    if (log_x) {
      for (double decade = std::pow(10, std::floor(std::log10(x.low))); decade <= x.high;
           decade *= 10)
        for (const double tick : {decade, 2 * decade, 5 * decade})
          if (tick >= x.low && tick <= x.high) out.insert(tick);
      if (out.size() > 2) return out;
      out.clear();
    }
    const double step = tick_step(x.high - x.low);
    for (double tick = std::ceil(x.low / step) * step; tick <= x.high; tick += step)
      out.insert(tick);
    return out;
  }

  struct Entry {
    std::string name;
    std::size_t style = 0;
    bool joined = false;  // by a line in some panel
  };

  const Figure& figure_;
  std::size_t columns_;
  double plot_width_;
  double plot_height_;
  double width_ = 0;
  AxisRange all_x_;
  AxisRange all_y_;
  std::vector<Entry> named_;  // in the legend
  SvgCanvas canvas_;
};

}  // namespace

std::string lines_svg(const Figure& figure) {
  return LineDrawing(figure).draw();
}

}  // namespace tiersim
