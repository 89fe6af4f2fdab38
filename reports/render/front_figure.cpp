#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>

#include "reports/render/chart_style.hpp"
#include "reports/render/figure_svg.hpp"
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

// A point with the group that gives it its colour and shape.
struct FrontPoint : FigurePoint {
  std::size_t group = 0;

  bool on_front() const { return emphasis != Emphasis::none; }
};

std::vector<FrontPoint> points_of(const FigurePanel& panel) {
  std::vector<FrontPoint> out;
  for (std::size_t g = 0; g < panel.series.size(); ++g)
    for (const FigurePoint& point : panel.series[g].points) out.push_back({point, g});
  std::ranges::stable_sort(out, {}, &FigurePoint::order);
  return out;
}

AxisRange range_of(const std::vector<FrontPoint>& points, double FigurePoint::*value,
                   double FigurePoint::*low, double FigurePoint::*high) {
  AxisRange out;
  for (const FrontPoint& point : points) {
    out.add(point.*value);
    if (!point.on_front()) continue;
    out.add(point.*low);
    out.add(point.*high);
  }
  return out;
}

class FrontDrawing {
 public:
  explicit FrontDrawing(const Figure& figure)
      : figure_(figure),
        panel_(figure.panels.front()),
        points_(points_of(panel_)),
        x_(range_of(points_, &FigurePoint::x, &FigurePoint::x_low, &FigurePoint::x_high)),
        y_(range_of(points_, &FigurePoint::y, &FigurePoint::low, &FigurePoint::high)) {}

  std::string draw() {
    const double width = kMargin + kScatterLeft + kWidth + kMargin;
    double y = kMargin + 14;
    canvas_.text({kMargin, y}, figure_.title, {.size = 15, .bold = true});
    for (const std::string& line : text_lines(figure_.subtitle, 11, width - 2 * kMargin)) {
      if (line.empty()) continue;
      y += 16;
      canvas_.text({kMargin, y}, line, {.size = 11, .colour = kGrey});
    }
    y = legend(y + 22, width) + 14;
    corner_ = {kMargin + kScatterLeft, y};
    axes();
    whiskers();
    step_line();
    markers();
    labels();
    canvas_.text({kMargin + 10, y + kHeight / 2}, panel_.y.label,
                 {.size = 12, .anchor = TextAnchor::middle, .turned = -90});
    canvas_.text({corner_.x + kWidth / 2, y + kHeight + 36}, panel_.x.label,
                 {.size = 12, .anchor = TextAnchor::middle});
    return canvas_.page(width, y + kHeight + 36 + kMargin, figure_.title);
  }

 private:
  SvgPoint at(double x, double y) const {
    return {corner_.x + kInset + (kWidth - 2 * kInset) * x_.place(x),
            corner_.y + kHeight - kInset - (kHeight - 2 * kInset) * y_.place(y)};
  }
  SvgPoint at(const FigurePoint& point) const { return at(point.x, point.y); }

  double legend(double y, double width) {
    double x = kMargin;
    for (std::size_t i = 0; i < panel_.series.size(); ++i) {
      const std::string& name = panel_.series[i].name;
      if (name.empty()) continue;
      const double own = 18 + text_width(name, 12) + 14;
      if (x > kMargin && x + own > width - kMargin) {
        x = kMargin;
        y += 20;
      }
      draw_marker(canvas_, i, {x + 6, y - 4}, MarkerFill::full);
      canvas_.text({x + 18, y}, name, {.size = 12});
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
    for (const FrontPoint& point : points_) {
      if (!point.on_front()) continue;
      const Stroke stroke{.colour = palette(point.group), .width = 1};
      if (point.has_x_interval())
        canvas_.line(at(point.x_low, point.y), at(point.x_high, point.y), stroke);
      if (point.has_interval())
        canvas_.line(at(point.x, point.low), at(point.x, point.high), stroke);
    }
  }

  // Between two points of the front the line turns at the corner that both dominate.
  void step_line() {
    if (!panel_.front->joined) return;
    std::vector<SvgPoint> front;
    for (const FrontPoint& point : points_)
      if (point.on_front()) front.push_back({point.x, point.y});
    std::ranges::sort(front, {}, [](const SvgPoint& p) { return std::pair(p.x, p.y); });
    std::vector<SvgPoint> line;
    for (const SvgPoint& point : front) {
      if (!line.empty()) {
        const SvgPoint& last = line.back();
        const bool low_x = panel_.front->x_better == Sense::maximize;
        const bool low_y = panel_.front->y_better == Sense::maximize;
        line.push_back({low_x ? std::min(last.x, point.x) : std::max(last.x, point.x),
                        low_y ? std::min(last.y, point.y) : std::max(last.y, point.y)});
      }
      line.push_back(point);
    }
    for (SvgPoint& point : line) point = at(point.x, point.y);
    if (line.size() > 1) canvas_.polyline(line, kFront);
  }

  // Points of the front are drawn last, over the others.
  void markers() {
    for (const bool front : {false, true})
      for (const FrontPoint& point : points_) {
        if (point.on_front() != front) continue;
        const SvgPoint place = at(point);
        if (!front && !first_there(place, point.group)) continue;
        draw_marker(canvas_, point.group, place, front ? MarkerFill::full : MarkerFill::hollow);
        (front ? taken_ : hollow_).push_back({place.x - 4, place.y - 4, place.x + 4, place.y + 4});
      }
    for (const FrontPoint& point : points_)
      if (point.emphasis == Emphasis::knee)
        canvas_.circle(at(point), 7.5, "none", {.colour = "#222222", .width = 1.2});
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
    std::vector<const FrontPoint*> front;
    bool long_ones = false;
    for (const FrontPoint& point : points_) {
      if (!point.on_front()) continue;
      front.push_back(&point);
      long_ones = long_ones || display_width(point.label) > kLongLabel;
    }
    if (front.empty()) return;
    const auto [first, last] = std::ranges::minmax_element(
        front, {}, [](const FrontPoint* point) { return std::pair(point->x, point->y); });
    std::vector<const FrontPoint*> order{*first, *last};
    for (const FrontPoint* point : front)
      if (point->emphasis == Emphasis::knee) order.insert(order.begin(), point);
    if (!long_ones) order.insert(order.end(), front.begin(), front.end());
    std::set<const FrontPoint*> done;
    for (const FrontPoint* point : order)
      if (done.insert(point).second) label(*point, point->emphasis == Emphasis::knee);
  }

  // Puts the label beside, above or below the point where it overlaps nothing, else leaves it out.
  // The label of the knee may cover hollow points.
  void label(const FigurePoint& point, bool bold) {
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

  const Figure& figure_;
  const FigurePanel& panel_;
  std::vector<FrontPoint> points_;
  ValueAxis x_;
  ValueAxis y_;
  SvgPoint corner_;
  SvgCanvas canvas_;
  std::vector<Box> taken_;   // areas of labels and of points of the front
  std::vector<Box> hollow_;  // areas of other points
  std::set<std::tuple<int, int, std::size_t>> drawn_;
};

}  // namespace

std::string front_svg(const Figure& figure) {
  TS_EXPECTS(figure.panels.size() == 1 && figure.panels.front().front, figure.panels.size());
  return FrontDrawing(figure).draw();
}

}  // namespace tiersim
