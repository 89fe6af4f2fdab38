#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "reports/render/chart_style.hpp"
#include "reports/render/figure_svg.hpp"
#include "reports/render/svg_canvas.hpp"
#include "sim/base/check.hpp"

namespace tiersim {
namespace {

constexpr double kCellWidth = 36;
constexpr double kCellHeight = 27;
constexpr double kPanelGap = 16;   // between panels
constexpr double kPanelLeft = 72;  // left of the panels: labels and ticks of y
constexpr double kRowTitle = 34;   // right of the panels
constexpr double kCategoryLine = 22;
constexpr double kSwatch = 16;
constexpr double kWideSwatch = 30;
constexpr double kSubtitleSize = 11;
constexpr Stroke kEdge{.colour = "white", .width = 1};

// The bright colours of the palette with its yellow, on which black letters are readable.
std::string_view colour_of(std::size_t category) {
  constexpr std::array<std::string_view, 6> kColours{"#56B4E9", "#E69F00", "#CC79A7",
                                                     "#009E73", "#F0E442", "#D55E00"};
  return kColours[category % kColours.size()];
}

class MapDrawing {
 public:
  explicit MapDrawing(const Figure& map)
      : map_(map),
        x_(map.panels.front().x),
        y_(map.panels.front().y),
        panel_width_(kCellWidth * static_cast<double>(x_.ticks.size())),
        panel_height_(kCellHeight * static_cast<double>(y_.ticks.size())) {
    const auto columns = static_cast<double>(map.columns);
    width_ = std::max(kPanelLeft + columns * (panel_width_ + kPanelGap) + kRowTitle, 560.0);
  }

  std::string draw() {
    double y = heading();
    y = legend(y + 10);
    y += 34;
    for (std::size_t c = 0; c < map_.columns; ++c)
      canvas_.text({panel_x(c) + panel_width_ / 2, y - 8}, map_.panels[c].title,
                   {.size = 12, .anchor = TextAnchor::middle, .bold = true});
    const double top = y;
    for (std::size_t r = 0; r < map_.row_titles.size(); ++r) {
      for (std::size_t c = 0; c < map_.columns; ++c)
        panel(map_.panels.at(r * map_.columns + c), {panel_x(c), y});
      row_labels(r, y);
      y += panel_height_ + kPanelGap;
    }
    y -= kPanelGap;
    canvas_.text({kMargin + 12, (top + y) / 2}, y_.label,
                 {.size = 12, .anchor = TextAnchor::middle, .turned = -90});
    return bottom(y);
  }

 private:
  double panel_x(std::size_t column) const {
    return kPanelLeft + static_cast<double>(column) * (panel_width_ + kPanelGap);
  }

  double heading() {
    double y = kMargin + 14;
    canvas_.text({kMargin, y}, map_.title, {.size = 15, .bold = true});
    if (map_.subtitle.empty()) return y;
    for (const std::string& line : text_lines(map_.subtitle, kSubtitleSize, width_ - 2 * kMargin)) {
      y += kSubtitleSize + 5;
      canvas_.text({kMargin, y}, line, {.size = kSubtitleSize, .colour = kGrey});
    }
    return y;
  }

  // Number of cells of each category alone, then of ties, then of empty cells.
  std::vector<std::size_t> counts() const {
    std::vector<std::size_t> out(map_.categories.size() + 2);
    for (const FigurePanel& panel : map_.panels)
      for (const auto& cells : panel.cells)
        for (const FigureCell& cell : cells)
          ++out.at(!cell.category ? out.size() - 1 : cell.tied ? out.size() - 2 : *cell.category);
    return out;
  }

  double legend(double y) {
    struct Entry {
      FigureCell sample;
      std::string name;
      std::size_t count;
    };
    const std::vector<std::size_t> count = counts();
    std::vector<Entry> entries;
    for (std::size_t i = 0; i < map_.categories.size(); ++i)
      if (!map_.categories[i].name.empty())
        entries.push_back({{.category = i}, map_.categories[i].name, count[i]});
    const std::size_t tied = count[count.size() - 2];
    if (tied > 0) entries.push_back({{.category = 0, .tied = 1, .strength = 0.35}, "tied", tied});
    if (count.back() > 0) entries.push_back({{}, map_.empty, count.back()});
    double x = kMargin;
    for (const Entry& entry : entries) {
      const std::string text = fmt::format("{}: {}", entry.name, entry.count);
      const double swatch = entry.sample.tied ? kWideSwatch : kSwatch;
      const double width = swatch + 6 + text_width(text, 12) + 14;
      if (x > kMargin && x + width > width_ - kMargin) {
        x = kMargin;
        y += kCategoryLine;
      }
      cell(entry.sample, {x, y}, swatch, kSwatch);
      canvas_.rectangle({x, y}, swatch, kSwatch, "none", kFrame);
      canvas_.text({x + swatch + 6, y + 12}, text, {.size = 12});
      x += width;
    }
    return y + kSwatch;
  }

  void cell(const FigureCell& cell, SvgPoint at, double width, double height) {
    const auto fill = [&](std::size_t category) {
      return tinted(colour_of(category), cell.strength);
    };
    const double right = at.x + width;
    const double below = at.y + height;
    const double centre = at.x + width / 2;
    if (!cell.category) {
      canvas_.rectangle(at, width, height, "#F2F2F2", kEdge);
      canvas_.text({centre, at.y + height / 2 + 4}, "\u2013",
                   {.size = 11, .anchor = TextAnchor::middle, .colour = "#999999"});
      return;
    }
    canvas_.rectangle(at, width, height, fill(*cell.category), kEdge);
    std::string letters = map_.categories.at(*cell.category).letter;
    if (cell.tied) {
      canvas_.polygon({{right, at.y}, {right, below}, {at.x, below}}, fill(*cell.tied), kEdge);
      letters += "=" + map_.categories.at(*cell.tied).letter;
    }
    const double lift = cell.note.empty() ? 4 : -1;
    canvas_.text({centre, at.y + height / 2 + lift}, letters,
                 {.size = 11, .anchor = TextAnchor::middle, .bold = true, .colour = "#000000"});
    if (!cell.note.empty())
      canvas_.text({centre, below - 4}, cell.note,
                   {.size = 8, .anchor = TextAnchor::middle, .colour = "#000000"});
  }

  void panel(const FigurePanel& panel, SvgPoint at) {
    const auto& cells = panel.cells;
    TS_EXPECTS(cells.size() == y_.ticks.size(), cells.size(), y_.ticks.size());
    for (std::size_t y = 0; y < cells.size(); ++y) {
      TS_EXPECTS(cells[y].size() == x_.ticks.size(), cells[y].size(), x_.ticks.size());
      const double top = at.y + panel_height_ - kCellHeight * static_cast<double>(y + 1);
      canvas_.group([&] {
        for (std::size_t x = 0; x < cells[y].size(); ++x)
          cell(cells[y][x], {at.x + kCellWidth * static_cast<double>(x), top}, kCellWidth,
               kCellHeight);
      });
    }
    canvas_.rectangle(at, panel_width_, panel_height_, "none", kFrame);
  }

  void row_labels(std::size_t row, double top) {
    for (std::size_t i = 0; i < y_.ticks.size(); ++i)
      canvas_.text(
          {kPanelLeft - 6, top + panel_height_ - kCellHeight * (static_cast<double>(i) + 0.5) + 4},
          y_.ticks[i].second, {.size = kTickSize, .anchor = TextAnchor::end});
    canvas_.text({panel_x(map_.columns), top + panel_height_ / 2}, map_.row_titles[row],
                 {.size = 12, .anchor = TextAnchor::middle, .bold = true, .turned = 90});
  }

  std::string bottom(double y) {
    for (std::size_t c = 0; c < map_.columns; ++c)
      for (std::size_t i = 0; i < x_.ticks.size(); ++i)
        canvas_.text({panel_x(c) + kCellWidth * (static_cast<double>(i) + 0.5), y + 14},
                     x_.ticks[i].second, {.size = kTickSize, .anchor = TextAnchor::middle});
    const double centre = (kPanelLeft + panel_x(map_.columns) - kPanelGap) / 2;
    canvas_.text({centre, y + 34}, x_.label, {.size = 12, .anchor = TextAnchor::middle});
    return canvas_.page(width_, y + 34 + kMargin, map_.title);
  }

  const Figure& map_;
  const FigureAxis& x_;
  const FigureAxis& y_;
  double panel_width_;
  double panel_height_;
  double width_ = 0;
  SvgCanvas canvas_;
};

}  // namespace

std::string map_svg(const Figure& figure) {
  TS_EXPECTS(
      figure.panels.size() == figure.columns * figure.row_titles.size() && !figure.panels.empty(),
      figure.panels.size(), figure.columns);
  return MapDrawing(figure).draw();
}

}  // namespace tiersim
