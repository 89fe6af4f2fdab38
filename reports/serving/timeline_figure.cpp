#include "reports/serving/timeline_figure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "reports/render/axis.hpp"
#include "reports/render/svg_canvas.hpp"
#include "sim/base/check.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace {

constexpr double kMargin = 16;
constexpr double kLeft = 56;  // left of a panel: its ticks
constexpr double kPlotWidth = 640;
constexpr double kPlotHeight = 96;
constexpr double kAbove = 34;  // above a panel: its title and legend
constexpr double kSample = 26;
constexpr double kBoldWidth = 1.15;  // width of bold letters over text_width()
constexpr double kLegendGap = 14;    // before the sample of a line
constexpr double kLegendLine = 16;   // height of a legend that does not fit beside the title
constexpr std::size_t kMostDevices = 5;
constexpr Stroke kFrame{.colour = "#444444", .width = 1};
constexpr Stroke kGrid{.colour = "#E4E4E4", .width = 1};
constexpr Stroke kWindow{.colour = "#888888", .width = 1, .dash = "3 3"};

struct Line {
  std::string name;
  std::vector<double> values;  // one for each bin
};
struct Panel {
  std::string title;
  std::vector<Line> lines;
};

std::vector<double> percent(std::vector<double> shares) {
  for (double& share : shares) share *= 100;
  return shares;
}

// The GPU and the busiest channels.
std::vector<Line> devices(const ServingTimeline& timeline) {
  std::vector<Line> out;
  std::vector<std::pair<double, Line>> channels;
  for (const auto& [name, values] : timeline.utilisation) {
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    if (name == "gpu")
      out.push_back({name, percent(values)});
    else if (sum > 0)
      channels.emplace_back(sum, Line{name, percent(values)});
  }
  std::ranges::stable_sort(channels, std::greater<>{}, &std::pair<double, Line>::first);
  for (const auto& [sum, line] : channels)
    if (out.size() < kMostDevices) out.push_back(line);
  return out;
}

std::vector<Line> held(const ServingTimeline& timeline) {
  constexpr double kGiB = 1024.0 * 1024 * 1024;
  std::vector<Line> out;
  for (const auto& [name, values] : timeline.held_bytes) {
    Line& line = out.emplace_back(Line{name, values});
    for (double& bytes : line.values) bytes /= kGiB;
  }
  return out;
}

// Shares of the input of each bin.
std::vector<Line> found(const ServingTimeline& timeline) {
  std::vector<Line> out;
  for (const auto& [name, values] : *timeline.found_tokens_per_s) {
    // A tier may be named pool, too.
    Line& line = out.emplace_back(Line{name == "pool" ? "KV blocks" : name, values});
    for (std::size_t bin = 0; bin < values.size(); ++bin) {
      const double input = timeline.input_tokens_per_s[bin];
      line.values[bin] = input > 0 ? 100 * values[bin] / input : 0;
    }
  }
  return out;
}

std::vector<Panel> panels_of(const ServingTimeline& timeline) {
  std::vector<Panel> out{
      {"requests", {{"waiting", timeline.queue_depth}, {"running", timeline.running}}},
      {"output tokens/s", {{"output", timeline.output_tokens_per_s}}},
      {"input tokens/s", {{"input", timeline.input_tokens_per_s}}},
      {"KV blocks in use, %", {{"blocks", percent(timeline.kv_use)}}},
      {"use of devices, %", devices(timeline)}};
  if (timeline.cached_tokens_per_s)
    out[2].lines.push_back({"of these from a prefix cache", *timeline.cached_tokens_per_s});
  if (timeline.found_tokens_per_s)
    out.insert(out.begin() + 3, {"input found in a prefix cache, %", found(timeline)});
  if (!timeline.held_bytes.empty())
    out.insert(out.end() - 1, {"keys and values held, GiB", held(timeline)});
  return out;
}

// A row of the strip above the panels: grey in the bins in which something happened.
struct Phase {
  const char* name;
  std::string_view colour;
  const std::vector<double>& tokens_per_s;
};

class TimelineFigure {
 public:
  explicit TimelineFigure(const RunRecord& record)
      : record_(record), serving_(*record.serving), timeline_(serving_.timeline) {
    const std::size_t bins = timeline_.queue_depth.size();
    end_ = bins == 0 ? 1 : timeline_.bin_s * static_cast<double>(bins - 1) + timeline_.last_bin_s;
    unit_ = end_ < 1 ? 1e-3 : 1;
  }

  std::string draw() {
    const std::string title = record_.name + ": requests over time";
    double y = kMargin + 14;
    canvas_.text({kMargin, y}, title, {.size = 15, .bold = true});
    const std::string subtitle =
        fmt::format("{} on {}; {}. Means over {:.3g} s each.", serving_.model, serving_.system,
                    serving_.workload, timeline_.bin_s);
    for (const std::string& line : text_lines(subtitle, 11, kLeft + kPlotWidth)) {
      y += 16;
      canvas_.text({kMargin, y}, line, {.size = 11, .colour = "#666666"});
    }
    y = phases(y + 4);
    for (const Panel& panel : panels_of(timeline_)) {
      const double above = kAbove + (is_beside_title(panel) ? 0 : kLegendLine);
      draw(panel, y + above);
      y += above + kPlotHeight;
    }
    time_axis(y);
    return canvas_.page(2 * kMargin + kLeft + kPlotWidth, y + 36 + kMargin, title);
  }

 private:
  double x(double seconds) const { return kMargin + kLeft + kPlotWidth * seconds / end_; }

  // Prefill reads prompts, and decode puts tokens out. Returns the lower end of the strip.
  double phases(double above) {
    constexpr double kRow = 12;
    const std::array<Phase, 2> rows{{{"prefill", "#444444", timeline_.input_tokens_per_s},
                                     {"decode", "#9A9A9A", timeline_.output_tokens_per_s}}};
    double top = above + kAbove;
    canvas_.text({x(0), top - 8}, "phases: prefill reads prompts, decode puts tokens out",
                 {.size = 12, .bold = true});
    for (const Phase& phase : rows) {
      const auto end_of = [&](std::size_t bin) {
        return std::min(end_, timeline_.bin_s * static_cast<double>(bin));
      };
      const std::vector<double>& tokens = phase.tokens_per_s;
      for (std::size_t bin = 0; bin < tokens.size();) {
        const std::size_t first = bin;
        while (bin < tokens.size() && tokens[bin] > 0) ++bin;
        if (bin > first)
          canvas_.rectangle({x(end_of(first)), top}, x(end_of(bin)) - x(end_of(first)), kRow,
                            phase.colour, {});
        else
          ++bin;
      }
      canvas_.text({x(0) - 6, top + kRow - 2.5}, phase.name,
                   {.size = 10, .anchor = TextAnchor::end});
      canvas_.rectangle({x(0), top}, kPlotWidth, kRow, "none", kFrame);
      top += kRow;
    }
    return top;
  }

  void draw(const Panel& panel, double top) {
    AxisRange range;
    for (const Line& line : panel.lines)
      for (const double value : line.values) range.add(value);
    range = with_ticks(range);
    const auto y = [&](double value) {
      return top + kPlotHeight * (1 - (value - range.low) / (range.high - range.low));
    };
    const double step = tick_step(range.high - range.low);
    const auto ticks = std::llround((range.high - range.low) / step);
    for (std::int64_t i = 0; i <= ticks; ++i) {
      const double value = range.low + step * static_cast<double>(i);
      canvas_.line({x(0), y(value)}, {x(end_), y(value)}, kGrid);
      canvas_.text({x(0) - 6, y(value) + 3.5}, decimal_label(value, range.high),
                   {.size = 10, .anchor = TextAnchor::end});
    }
    for (std::size_t i = 0; i < panel.lines.size(); ++i) {
      const Stroke stroke{.colour = palette(i), .width = 1.4, .dash = dash_of(i)};
      std::vector<SvgPoint> points;
      const std::vector<double>& values = panel.lines[i].values;
      for (std::size_t bin = 0; bin < values.size(); ++bin) {
        const double from = timeline_.bin_s * static_cast<double>(bin);
        points.push_back({x(from), y(values[bin])});
        points.push_back({x(std::min(end_, from + timeline_.bin_s)), y(values[bin])});
      }
      if (!points.empty()) canvas_.polyline(points, stroke);
    }
    for (const double edge : {serving_.window_s.low, serving_.window_s.high})
      if (edge > 0 && edge < end_)
        canvas_.line({x(edge), top}, {x(edge), top + kPlotHeight}, kWindow);
    canvas_.rectangle({x(0), top}, kPlotWidth, kPlotHeight, "none", kFrame);
    heading(panel, top - 8);
  }

  // True where the title and the names of the lines fit on one line.
  static bool is_beside_title(const Panel& panel) {
    if (panel.lines.size() < 2) return true;
    double width = text_width(panel.title, 12) * kBoldWidth;
    for (const Line& line : panel.lines)
      width += text_width(line.name, 11) + kSample + 6 + kLegendGap;
    return width <= kPlotWidth;
  }

  // The title, with the legend at the other end or below it.
  void heading(const Panel& panel, double y) {
    const double title = y - (is_beside_title(panel) ? 0 : kLegendLine);
    canvas_.text({x(0), title}, panel.title, {.size = 12, .bold = true});
    if (panel.lines.size() < 2) return;
    double at = x(end_);
    for (std::size_t i = panel.lines.size(); i-- > 0;) {
      const std::string& name = panel.lines[i].name;
      at -= text_width(name, 11);
      canvas_.text({at, y}, name, {.size = 11});
      at -= kSample + 6;
      const Stroke stroke{.colour = palette(i), .width = 1.8, .dash = dash_of(i)};
      canvas_.line({at, y - 4}, {at + kSample, y - 4}, stroke);
      at -= kLegendGap;
    }
  }

  void time_axis(double y) {
    const double last = end_ / unit_;
    const double step = tick_step(last);
    for (double tick = 0; tick <= last * (1 + 1e-9); tick += step) {
      canvas_.line({x(tick * unit_), y}, {x(tick * unit_), y + 4}, kFrame);
      canvas_.text({x(tick * unit_), y + 16}, decimal_label(tick, last),
                   {.size = 10, .anchor = TextAnchor::middle});
    }
    const std::string unit = unit_ == 1 ? "s" : "ms";
    const bool part = serving_.window_s.low > 0 || serving_.window_s.high < end_;
    const std::string measured = part ? "; measured between the dotted lines" : "";
    canvas_.text({x(end_ / 2), y + 34}, "time, " + unit + measured,
                 {.size = 12, .anchor = TextAnchor::middle});
  }

  const RunRecord& record_;
  const ServingRecord& serving_;
  const ServingTimeline& timeline_;
  double end_ = 1;   // s
  double unit_ = 1;  // s
  SvgCanvas canvas_;
};

}  // namespace

std::string serving_timeline_svg(const RunRecord& record) {
  TS_EXPECTS(record.serving.has_value());
  return TimelineFigure(record).draw();
}

}  // namespace tiersim
