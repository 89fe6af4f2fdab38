#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "reports/bottleneck/bottleneck_report.hpp"
#include "reports/footprint/point_labels.hpp"
#include "reports/render/svg_canvas.hpp"
#include "reports/summary/summary_parts.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace {

constexpr std::size_t kMostBars = 40;
constexpr std::size_t kMostRows = 60;
constexpr std::size_t kPointsARow = 100;
constexpr std::size_t kColours = 7;  // of the palette; further causes are "other"
constexpr std::string_view kOther = "#9A9A9A";
constexpr double kMargin = 16;
constexpr double kBars = 560;
constexpr double kBarHeight = 14;
constexpr double kBarStep = 20;
constexpr double kLegendStep = 18;
constexpr double kSample = 12;
constexpr double kLabelSize = 11;
constexpr double kLargestLabel = 320;

class BottleneckDrawing {
 public:
  explicit BottleneckDrawing(const PointTable& table)
      : table_(table), labels_(table), all_(bottlenecks(table)), causes_(causes_of(all_)) {}

  std::string svg() {
    if (all_.size() <= kMostBars)
      bars();
    else
      cells();
    return canvas_.page(width_, y_ + kMargin, title());
  }

 private:
  std::string title() const {
    return std::string("What bounds ") +
           (table_.title.empty() ? "each point" : printable(table_.title));
  }

  std::string_view colour(const std::string& cause) const {
    const auto at = static_cast<std::size_t>(std::ranges::find(causes_, cause) - causes_.begin());
    return at < kColours ? palette(at) : kOther;
  }

  // Title and legend of the causes, in as many lines as they need.
  void head(const std::string& what) {
    canvas_.text({kMargin, kMargin + 12}, title(), {.size = 14, .bold = true});
    y_ = kMargin + 32;
    for (const std::string& line : text_lines(what, kLabelSize, width_ - 2 * kMargin)) {
      canvas_.text({kMargin, y_}, line, {.size = kLabelSize, .colour = "#555555"});
      y_ += 15;
    }
    y_ += 4;
    double x = kMargin;
    const std::size_t shown = std::min(causes_.size(), kColours);
    for (std::size_t i = 0; i < shown + (causes_.size() > kColours ? 1 : 0); ++i) {
      const std::string name = i < shown ? printable(causes_[i]) : "other";
      const double wide = kSample + 6 + text_width(name, kLabelSize) + 16;
      if (x + wide > width_ - kMargin && x > kMargin) {
        x = kMargin;
        y_ += kLegendStep;
      }
      canvas_.rectangle({x, y_ - 10}, kSample, kSample, i < shown ? palette(i) : kOther, {});
      canvas_.text({x + kSample + 6, y_}, name, {.size = kLabelSize});
      x += wide;
    }
    y_ += kLegendStep;
  }

  static std::string shortened(std::string text) {
    while (text_width(text, kLabelSize) > kLargestLabel && text.size() > 4) {
      while (text.size() > 4 && (static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80U)
        text.pop_back();
      text.pop_back();
    }
    return text;
  }

  void bars() {
    double left = 40;
    for (const Bottleneck& point : all_)
      left = std::max(left, text_width(shortened(labels_.text(point.point)), kLabelSize));
    const double from = kMargin + left + 8;
    width_ = from + kBars + kMargin + 40;
    head(all_.empty() || all_.front().of_chain
             ? "Share of the longest chain of operations that waits for each cause."
             : "Share of the time that the busiest channels, the GPU and the host work.");
    for (const Bottleneck& point : all_) {
      canvas_.text({from - 8, y_ + 11}, shortened(labels_.text(point.point)),
                   {.size = kLabelSize, .anchor = TextAnchor::end});
      if (point.of_chain)
        stacked(point, from);
      else
        single(point, from);
      y_ += kBarStep;
    }
    for (int i = 0; i <= 4; ++i)
      canvas_.text({from + kBars * i / 4, y_ + 10}, fmt::format("{} %", 25 * i),
                   {.size = 10, .anchor = TextAnchor::middle});
    y_ += 12;
  }

  void stacked(const Bottleneck& point, double from) {
    double x = from;
    double rest = 0;  // share of the causes without a colour
    const auto segment = [&](double share, std::string_view fill) {
      const double wide = kBars * share;
      canvas_.rectangle({x, y_}, wide, kBarHeight, fill, {.colour = "white", .width = 0.5});
      const std::string text = share_text(share);
      if (wide > text_width(text, 10) + 6)
        canvas_.text({x + wide / 2, y_ + 10.5}, text,
                     {.size = 10, .anchor = TextAnchor::middle, .colour = "white"});
      x += wide;
    };
    for (const std::string& cause : causes_) {
      const auto share = std::ranges::find(point.shares, cause, &CauseShare::cause);
      if (share == point.shares.end()) continue;
      if (colour(cause) == kOther)
        rest += share->share;
      else
        segment(share->share, colour(cause));
    }
    if (rest > 0) segment(rest, kOther);
  }

  // The bottleneck of a server; its shares do not add up, so they are not stacked.
  void single(const Bottleneck& point, double from) {
    const double wide = kBars * std::min(1.0, point.share());
    canvas_.rectangle({from, y_}, wide, kBarHeight, colour(point.bound_by), {});
    canvas_.text({from + wide + 4, y_ + 10.5},
                 fmt::format("{} {}", printable(point.bound_by), share_text(point.share())),
                 {.size = 10});
  }

  // The labels of the last column in which points differ give the columns of cells; the other
  // labels give the rows.
  struct Grid {
    std::vector<std::string> rows;
    std::vector<std::string> columns;
    std::vector<std::pair<std::size_t, std::size_t>> at;  // row and column by entry of all_
    std::string column_name = {};
    std::string row_names = {};
  };

  Grid grid() const {
    Grid out;
    const auto name_columns = labels_.columns();
    for (const Bottleneck& point : all_) {
      std::vector<std::string> cells = labels_.cells(point.point);
      const std::string last = cells.back();
      cells.pop_back();
      out.at.emplace_back(place(out.rows, join(cells, ", ")), place(out.columns, last));
    }
    for (std::size_t c = 0; c + 1 < name_columns.size(); ++c)
      out.row_names += (c == 0 ? "" : ", ") + name_columns[c].title;
    out.column_name = name_columns.empty() ? "" : name_columns.back().title;
    if (out.rows.size() <= kMostRows && out.columns.size() <= kPointsARow) return out;
    out = {};
    for (const Bottleneck& point : all_) {
      const std::size_t row = point.point / kPointsARow;
      while (out.rows.size() <= row)
        out.rows.push_back(fmt::format("{}", out.rows.size() * kPointsARow));
      out.at.emplace_back(row, point.point % kPointsARow);
    }
    out.columns.resize(kPointsARow);
    return out;
  }

  static std::size_t place(std::vector<std::string>& names, const std::string& name) {
    const auto it = std::ranges::find(names, name);
    const auto at = static_cast<std::size_t>(it - names.begin());
    if (it == names.end()) names.push_back(name);
    return at;
  }

  void cells() {
    const Grid grid = this->grid();
    double left = 30;
    for (const std::string& row : grid.rows)
      left = std::max(left, text_width(shortened(row), kLabelSize));
    left = std::max(left, 1.15 * text_width(shortened(grid.row_names), kLabelSize));  // bold
    const double from = kMargin + left + 8;
    const double wide =
        std::clamp(std::floor(kBars / static_cast<double>(grid.columns.size())), 6.0, 36.0);
    constexpr double kHigh = 14;
    width_ = std::max(from + wide * static_cast<double>(grid.columns.size()) + kMargin, 480.0);
    head(grid.column_name.empty()
             ? "A cell a point, by position: the colour of what bounds it, deeper where its share "
               "is larger."
             : "A cell a point: the colour of what bounds it, deeper where its share is larger.");
    if (!grid.row_names.empty()) {
      canvas_.text({from - 8, y_ + 4}, shortened(grid.row_names),
                   {.size = kLabelSize, .anchor = TextAnchor::end, .bold = true});
      y_ += 12;
    }
    for (std::size_t r = 0; r < grid.rows.size(); ++r)
      canvas_.text({from - 8, y_ + kHigh * static_cast<double>(r) + 11}, shortened(grid.rows[r]),
                   {.size = kLabelSize, .anchor = TextAnchor::end});
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const auto [row, column] = grid.at[i];
      const double strength = 0.25 + 0.75 * std::min(1.0, all_[i].share());
      canvas_.rectangle(
          {from + wide * static_cast<double>(column), y_ + kHigh * static_cast<double>(row)}, wide,
          kHigh, tinted(colour(all_[i].bound_by), strength), {.colour = "white", .width = 0.5});
    }
    y_ += kHigh * static_cast<double>(grid.rows.size()) + 12;
    if (!grid.column_name.empty()) column_labels(grid, from, wide);
  }

  void column_labels(const Grid& grid, double from, double wide) {
    double free = from;
    for (std::size_t c = 0; c < grid.columns.size(); ++c) {
      const double middle = from + wide * (static_cast<double>(c) + 0.5);
      const double half = text_width(grid.columns[c], 10) / 2 + 2;
      if (c > 0 && middle - half < free) continue;
      canvas_.text({middle, y_}, grid.columns[c], {.size = 10, .anchor = TextAnchor::middle});
      free = middle + half;
    }
    y_ += 16;
    canvas_.text({from + wide * static_cast<double>(grid.columns.size()) / 2, y_}, grid.column_name,
                 {.size = kLabelSize, .anchor = TextAnchor::middle});
    y_ += 4;
  }

  const PointTable& table_;
  PointLabels labels_;
  std::vector<Bottleneck> all_;
  std::vector<std::string> causes_;
  SvgCanvas canvas_;
  double y_ = kMargin;
  double width_ = 0;
};

}  // namespace

std::string bottleneck_svg(const PointTable& table) {
  return BottleneckDrawing(table).svg();
}

}  // namespace tiersim
