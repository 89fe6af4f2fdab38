#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "reports/render/svg_canvas.hpp"
#include "reports/render/value_axis.hpp"
#include "reports/sensitivity/tornado.hpp"
#include "sim/base/display.hpp"

namespace tiersim {
namespace {

constexpr double kMargin = 16;
constexpr double kRow = 22;
constexpr double kBar = 13;
constexpr double kPlot = 420;  // px
constexpr double kEnds = 130;  // on each side of the plot, for the values
constexpr double kSize = 10.5;
constexpr std::string_view kGrey = "#666666";
constexpr std::string_view kFrame = "#444444";
constexpr std::size_t kLowColour = 0;   // index in the palette
constexpr std::size_t kHighColour = 4;  // lighter, so that the two differ in black and white

std::string name_of(const TornadoRow& row) {
  const bool assumed = row.number_class == NumberClass::assumed;
  return row.parameter + (assumed ? " (assumed)" : "");
}

class TornadoDrawing {
 public:
  TornadoDrawing(const Tornado& tornado, std::size_t most) : tornado_(tornado) {
    for (const TornadoRow& row : tornado.rows) {
      if (rows_.size() == most) break;
      if (!is_notable(row, tornado)) continue;
      rows_.push_back(&row);
    }
    AxisRange range;
    range.add(tornado.base);
    for (const TornadoRow* row : rows_) {
      names_ = std::max(names_, text_width(name_of(*row), kSize));
      for (const TornadoEnd* end : {&row->low, &row->high})
        if (end->metric) range.add(*end->metric);
    }
    if (range.low == range.high) range = {range.low - 1, range.high + 1};
    low_ = range.low;
    high_ = range.high;
  }

  std::string draw() {
    const double width = kMargin + names_ + 10 + kEnds + kPlot + kEnds + kMargin;
    double y = kMargin + 14;
    canvas_.text({kMargin, y}, fmt::format("What moves {} of {}", tornado_.metric, tornado_.name),
                 {.size = 15, .bold = true});
    y += 17;
    canvas_.text({kMargin, y},
                 fmt::format("line: {} as configured; one parameter at a time, to the ends of its "
                             "95 % interval or by {:g} %",
                             text_of(tornado_.base), 100 * tornado_.by),
                 {.size = 11, .colour = kGrey});
    y += 22;
    legend(y);
    left_ = kMargin + names_ + 10 + kEnds;
    y += 12;
    const double top = y;
    for (const TornadoRow* row : rows_) {
      bar(*row, y + kRow / 2);
      y += kRow;
    }
    canvas_.line({x(tornado_.base), top}, {x(tornado_.base), y}, {.colour = kFrame, .width = 1.2});
    y = axis(y);
    const std::size_t left_out = tornado_.rows.size() - rows_.size();
    canvas_.text({kMargin, y + 18},
                 fmt::format("{} more {} less or cannot run; {} do not move it", left_out,
                             left_out == 1 ? "moves it" : "move it", tornado_.no_effect),
                 {.size = 11, .colour = kGrey});
    return canvas_.page(width, y + 18 + kMargin, tornado_.metric + " of " + tornado_.name);
  }

 private:
  double x(double value) const { return left_ + kPlot * (value - low_) / (high_ - low_); }
  std::string text_of(double value) const { return display(value, tornado_.unit); }

  void legend(double y) {
    double at = kMargin;
    for (const auto& [colour, text] : {std::pair(kLowColour, "at the parameter's low value"),
                                       std::pair(kHighColour, "at its high value")}) {
      canvas_.rectangle({at, y - 10}, 12, 12, palette(colour), {.colour = kFrame, .width = 0.8});
      canvas_.text({at + 18, y}, text, {.size = 12});
      at += 18 + text_width(text, 12) + 14;
    }
  }

  // Ticks for the metric at both ends and as configured, where labels do not overlap.
  double axis(double y) {
    canvas_.line({x(low_), y}, {x(high_), y}, {.colour = kFrame, .width = 1});
    double free_from = 0;
    for (const double value : {low_, tornado_.base, high_}) {
      std::string text = text_of(value);
      if (value != tornado_.base && tornado_.base != 0)
        text += fmt::format(" ({:+.1f} %)", 100 * (value / tornado_.base - 1));
      const double half = text_width(text, 10) / 2;
      canvas_.line({x(value), y}, {x(value), y + 4}, {.colour = kFrame, .width = 1});
      if (x(value) - half < free_from) continue;
      canvas_.text({x(value), y + 16}, text, {.size = 10, .anchor = TextAnchor::middle});
      free_from = x(value) + half + 4;
    }
    return y + 18;
  }

  void bar(const TornadoRow& row, double y) {
    canvas_.text({kMargin + names_, y + 3.5}, name_of(row),
                 {.size = kSize, .anchor = TextAnchor::end});
    const double middle = x(tornado_.base);
    double leftmost = middle;
    double rightmost = middle;
    for (const auto& [end, colour] :
         {std::pair(&row.low, kLowColour), std::pair(&row.high, kHighColour)}) {
      if (!end->metric) continue;
      const double to = x(*end->metric);
      leftmost = std::min(leftmost, to);
      rightmost = std::max(rightmost, to);
      canvas_.rectangle({std::min(middle, to), y - kBar / 2}, std::abs(to - middle), kBar,
                        palette(colour), {.colour = kFrame, .width = 0.8});
    }
    // The values of the parameter, at the ends of the bar.
    std::string before;
    std::string after;
    for (const TornadoEnd* end : {&row.low, &row.high}) {
      std::string text = end->metric ? end->value : end->value + " cannot run";
      const bool left = end->metric && *end->metric < tornado_.base;
      std::string& side = left ? before : after;
      side += (side.empty() ? "" : ", ") + text;
    }
    canvas_.text({leftmost - 5, y + 3.5}, before, {.size = 9.5, .anchor = TextAnchor::end});
    canvas_.text({rightmost + 5, y + 3.5}, after, {.size = 9.5});
  }

  const Tornado& tornado_;
  std::vector<const TornadoRow*> rows_;
  double names_ = 0;  // px
  double left_ = 0;
  double low_ = 0;
  double high_ = 1;
  SvgCanvas canvas_;
};

}  // namespace

std::string to_svg(const Tornado& tornado, std::size_t most) {
  return TornadoDrawing(tornado, most).draw();
}

}  // namespace tiersim
