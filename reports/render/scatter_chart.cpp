#include "reports/render/scatter_chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>

#include "reports/render/chart_style.hpp"
#include "reports/render/marker.hpp"
#include "reports/render/svg_canvas.hpp"
#include "reports/render/table.hpp"
#include "reports/render/value_axis.hpp"
#include "sim/base/check.hpp"

namespace tiersim {
namespace {

constexpr double kScatterLeft = 66;  // left of the plot: its label and ticks
constexpr double kWidth = 620;
constexpr double kHeight = 380;
constexpr double kInset = 10;  // so that no marker is clipped
constexpr double kLabelSize = 10.5;
constexpr std::size_t kLongLabel = 24;  // display columns
constexpr Stroke kFront{.colour = "#444444", .width = 1.4};

struct Box {
  double left;
  double top;
  double right;
  double bottom;

  bool meets(const Box& b) const {
    return left < b.right && b.left < right && top < b.bottom && b.top < bottom;
  }
};

AxisRange range_of(const ScatterChart& chart, double ScatterPoint::*value,
                   std::optional<Interval<double>> ScatterPoint::*ci95) {
  AxisRange out;
  for (const ScatterPoint& point : chart.points) {
    out.add(point.*value);
    if (!point.front || !(point.*ci95)) continue;
    out.add((point.*ci95)->low);
    out.add((point.*ci95)->high);
  }
  return out;
}

class ScatterDrawing {
 public:
  explicit ScatterDrawing(const ScatterChart& chart)
      : chart_(chart),
        x_(range_of(chart, &ScatterPoint::x, &ScatterPoint::x_ci95)),
        y_(range_of(chart, &ScatterPoint::y, &ScatterPoint::y_ci95)) {}

  std::string draw() {
    const double width = kMargin + kScatterLeft + kWidth + kMargin;
    double y = kMargin + 14;
    canvas_.text({kMargin, y}, chart_.title, {.size = 15, .bold = true});
    for (const std::string& line : text_lines(chart_.subtitle, 11, width - 2 * kMargin)) {
      if (line.empty()) continue;
      y += 16;
      canvas_.text({kMargin, y}, line, {.size = 11, .colour = kGrey});
    }
    y = legend(y + 22, width) + 14;
    corner_ = {kMargin + kScatterLeft, y};
    axes();
    whiskers();
    step_line();
    points();
    labels();
    canvas_.text({kMargin + 10, y + kHeight / 2}, chart_.y_label,
                 {.size = 12, .anchor = TextAnchor::middle, .turned = -90});
    canvas_.text({corner_.x + kWidth / 2, y + kHeight + 36}, chart_.x_label,
                 {.size = 12, .anchor = TextAnchor::middle});
    return canvas_.page(width, y + kHeight + 36 + kMargin, chart_.title);
  }

 private:
  SvgPoint at(double x, double y) const {
    return {corner_.x + kInset + (kWidth - 2 * kInset) * x_.place(x),
            corner_.y + kHeight - kInset - (kHeight - 2 * kInset) * y_.place(y)};
  }
  SvgPoint at(const ScatterPoint& point) const { return at(point.x, point.y); }

  double legend(double y, double width) {
    double x = kMargin;
    for (std::size_t i = 0; i < chart_.groups.size(); ++i) {
      if (chart_.groups[i].empty()) continue;
      const double own = 18 + text_width(chart_.groups[i], 12) + 14;
      if (x > kMargin && x + own > width - kMargin) {
        x = kMargin;
        y += 20;
      }
      draw_marker(canvas_, i, {x + 6, y - 4}, MarkerFill::full);
      canvas_.text({x + 18, y}, chart_.groups[i], {.size = 12});
      x += own;
    }
    return y;
  }

  void axes() {
    const double bottom = corner_.y + kHeight;
    for (const ValueAxis::Tick& tick : y_.ticks()) {
      const double y = corner_.y + kHeight - kInset - (kHeight - 2 * kInset) * y_.place(tick.value);
      canvas_.line({corner_.x, y}, {corner_.x + kWidth, y}, kGrid);
      if (tick.label.empty()) continue;
      canvas_.text({corner_.x - 6, y + 3.5}, tick.label,
                   {.size = kTickSize, .anchor = TextAnchor::end});
    }
    for (const ValueAxis::Tick& tick : x_.ticks()) {
      const double x = corner_.x + kInset + (kWidth - 2 * kInset) * x_.place(tick.value);
      canvas_.line({x, corner_.y}, {x, bottom}, kGrid);
      if (tick.label.empty()) continue;
      canvas_.text({x, bottom + 16}, tick.label, {.size = kTickSize, .anchor = TextAnchor::middle});
    }
    canvas_.rectangle(corner_, kWidth, kHeight, "none", kFrame);
  }

  void whiskers() {
    for (const ScatterPoint& point : chart_.points) {
      if (!point.front) continue;
      const Stroke stroke{.colour = palette(point.group), .width = 1};
      if (point.x_ci95)
        canvas_.line(at(point.x_ci95->low, point.y), at(point.x_ci95->high, point.y), stroke);
      if (point.y_ci95)
        canvas_.line(at(point.x, point.y_ci95->low), at(point.x, point.y_ci95->high), stroke);
    }
  }

  // Between two points of the front the line turns at the corner that both dominate.
  void step_line() {
    if (!chart_.step_line) return;
    std::vector<SvgPoint> front;
    for (const ScatterPoint& point : chart_.points)
      if (point.front) front.push_back({point.x, point.y});
    std::ranges::sort(front, {}, [](const SvgPoint& p) { return std::pair(p.x, p.y); });
    std::vector<SvgPoint> line;
    for (const SvgPoint& point : front) {
      if (!line.empty()) {
        const SvgPoint& last = line.back();
        const bool low_x = chart_.x_better == Sense::maximize;
        const bool low_y = chart_.y_better == Sense::maximize;
        line.push_back({low_x ? std::min(last.x, point.x) : std::max(last.x, point.x),
                        low_y ? std::min(last.y, point.y) : std::max(last.y, point.y)});
      }
      line.push_back(point);
    }
    for (SvgPoint& point : line) point = at(point.x, point.y);
    if (line.size() > 1) canvas_.polyline(line, kFront);
  }

  // Points of the front are drawn last, over the others.
  void points() {
    for (const bool front : {false, true})
      for (const ScatterPoint& point : chart_.points) {
        TS_EXPECTS(point.group < chart_.groups.size(), point.group, chart_.groups.size());
        if (point.front != front) continue;
        const SvgPoint place = at(point);
        if (!front && !first_there(place, point.group)) continue;
        draw_marker(canvas_, point.group, place, front ? MarkerFill::full : MarkerFill::hollow);
        (front ? taken_ : hollow_).push_back({place.x - 4, place.y - 4, place.x + 4, place.y + 4});
      }
    if (chart_.knee)
      canvas_.circle(at(chart_.points.at(*chart_.knee)), 7.5, "none",
                     {.colour = "#222222", .width = 1.2});
  }

  // True for the first point of a group at a pixel. Of thousands of points the others add nothing.
  bool first_there(SvgPoint place, std::size_t group) {
    return drawn_
        .emplace(static_cast<int>(std::lround(place.x)), static_cast<int>(std::lround(place.y)),
                 group)
        .second;
  }

  // Labels the knee first, then the ends of the front, so that these have a label where room is
  // scarce. Further long labels would hide the points.
  void labels() {
    std::vector<std::size_t> front;
    bool long_ones = false;
    for (std::size_t i = 0; i < chart_.points.size(); ++i) {
      if (!chart_.points[i].front) continue;
      front.push_back(i);
      long_ones = long_ones || display_width(chart_.points[i].label) > kLongLabel;
    }
    if (front.empty()) return;
    const auto [first, last] = std::ranges::minmax_element(front, {}, [&](std::size_t i) {
      return std::pair(chart_.points[i].x, chart_.points[i].y);
    });
    std::vector<std::size_t> order{*first, *last};
    if (chart_.knee) order.insert(order.begin(), *chart_.knee);
    if (!long_ones) order.insert(order.end(), front.begin(), front.end());
    std::set<std::size_t> done;
    for (const std::size_t i : order)
      if (done.insert(i).second) label(chart_.points[i], chart_.knee == i);
  }

  // Puts the label beside, above or below the point where it overlaps nothing, else leaves it out.
  // The label of the knee may cover hollow points.
  void label(const ScatterPoint& point, bool bold) {
    if (point.label.empty()) return;
    const SvgPoint p = at(point);
    const double width = text_width(point.label, kLabelSize);
    const double away = bold ? 11 : 8;
    const std::array<SvgPoint, 6> places{{{p.x + away, p.y + 3.5},
                                          {p.x + away - 3, p.y - 7},
                                          {p.x + away - 3, p.y + 14},
                                          {p.x - away - width, p.y + 3.5},
                                          {p.x - away - width + 3, p.y - 7},
                                          {p.x - away - width + 3, p.y + 14}}};
    for (const bool over_hollow : {false, true})
      for (const SvgPoint& place : places) {
        const Box box{place.x, place.y - kLabelSize, place.x + width, place.y + 2};
        const auto meets = [&](const Box& other) { return box.meets(other); };
        if (box.left < corner_.x || box.right > corner_.x + kWidth || box.top < corner_.y ||
            box.bottom > corner_.y + kHeight || std::ranges::any_of(taken_, meets) ||
            (!(over_hollow && bold) && std::ranges::any_of(hollow_, meets)))
          continue;
        taken_.push_back(box);
        canvas_.text(place, point.label, {.size = kLabelSize, .bold = bold, .halo = true});
        return;
      }
  }

  const ScatterChart& chart_;
  ValueAxis x_;
  ValueAxis y_;
  SvgPoint corner_;
  SvgCanvas canvas_;
  std::vector<Box> taken_;   // areas of labels and of points of the front
  std::vector<Box> hollow_;  // areas of other points
  std::set<std::tuple<int, int, std::size_t>> drawn_;
};

}  // namespace

std::string to_svg(const ScatterChart& chart) {
  return ScatterDrawing(chart).draw();
}

}  // namespace tiersim
