#include "reports/render/gnuplot_script.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "reports/render/svg_canvas.hpp"

namespace tiersim {
namespace {

// Margins around the plot of a panel in inches, for axis labels and title.
constexpr double kLeft = 0.55;
constexpr double kYLabel = 0.11;  // of its middle from the left edge
constexpr double kRight = 0.10;
constexpr double kTitle = 0.18;
constexpr double kTop = 0.10;
constexpr double kBottom = 0.42;
constexpr double kLegendLine = 0.145;
constexpr double kPixelsPerInch = 96;
// A series with more points than this is a cloud, with smaller markers that do not hide each other.
constexpr std::size_t kCloud = 50;

// Filled gnuplot markers and dashes by style, distinguishable without colours.
constexpr std::array<int, 6> kMarkers{7, 5, 9, 13, 11, 15};
constexpr std::array<const char*, 6> kDashes{"1",          "(12,4)", "(4,3)",
                                             "(12,3,3,3)", "(2,3)",  "(8,3,2,3,2,3)"};
// Hollow markers, for printed values.
constexpr std::array<int, 4> kHollow{6, 4, 8, 12};

std::string script_number(double value) {
  return std::isfinite(value) ? fmt::format("{:.10g}", value) : "NaN";
}

std::string colour(const FigureSeries& series) {
  if (series.role == SeriesRole::paper) return "#000000";
  if (series.role == SeriesRole::guide) return "#777777";
  return std::string(palette(series.style));
}

bool has_intervals(const FigureSeries& series) {
  return std::ranges::any_of(series.points, &FigurePoint::has_interval);
}

// "with linespoints lc rgb ...", for a plot or for its entry in the legend.
std::string style_of(const FigureSeries& series, bool in_legend = false) {
  const std::size_t i = series.style;
  const std::string rgb = gnuplot_quoted(colour(series));
  if (series.mark == SeriesMark::bars) {
    const bool pale = series.role == SeriesRole::first_principles;
    return fmt::format("fs solid {} border lc rgb \"#333333\" fc rgb {} lw 0.7",
                       pale ? "0.35" : "0.9", rgb);
  }
  if (series.role == SeriesRole::guide) return fmt::format("with lines lc rgb {} dt 3 lw 1", rgb);
  if (series.role == SeriesRole::paper)
    return fmt::format("with points pt {} ps 0.8*s lc rgb {} lw 1.6", kHollow[i % kHollow.size()],
                       rgb);
  const int marker = kMarkers[i % kMarkers.size()];
  if (series.mark == SeriesMark::points) {
    const bool cloud = !in_legend && series.points.size() > kCloud;
    return fmt::format("with points pt {} ps {}*s lc rgb {}", marker, cloud ? 0.22 : 0.5, rgb);
  }
  return fmt::format("with linespoints lc rgb {} dt {} lw 1.4 pt {} ps 0.4*s", rgb,
                     kDashes[i % kDashes.size()], marker);
}

std::string plot_of(const FigureSeries& series, std::size_t index) {
  const double half = series.bar_width / 2;
  std::string out;
  if (series.mark == SeriesMark::bars)
    out = fmt::format("data index {} using 1:2:($1-{}):($1+{}):5:2 with boxxyerror {} notitle",
                      index, half, half, style_of(series));
  else
    out = fmt::format("data index {} using 1:2 {} notitle", index, style_of(series));
  if (has_intervals(series)) {
    // Not yerrorbars: without a marker they erase the line below their middle.
    const std::string rgb = series.mark == SeriesMark::bars ? "#333333" : colour(series);
    out += fmt::format(
        ", \\\n    data index {} using 1:3:(0):($4-$3) with vectors nohead lc rgb {} dt 1 lw 1 "
        "notitle",
        index, gnuplot_quoted(rgb));
  }
  return out;
}

// Each name once, with the style of the first series that has it.
std::vector<const FigureSeries*> legend_of(const Figure& figure) {
  std::vector<const FigureSeries*> out;
  for (const FigurePanel& panel : figure.panels)
    for (const FigureSeries& series : panel.series)
      if (!series.name.empty() &&
          std::ranges::none_of(out, [&](const auto* s) { return s->name == series.name; }))
        out.push_back(&series);
  return out;
}

struct Layout {
  std::size_t legend_columns = 1;
  std::size_t legend_rows = 0;
  std::size_t rows = 1;
  double width = 0;
  double height = 0;
  double panel_width = 0;
  double title = 0;
  double legend = 0;
};

Layout layout_of(const Figure& figure) {
  Layout out{.width = figure.width};
  const auto entries = legend_of(figure);
  double widest = 0;
  for (const FigureSeries* series : entries)
    widest = std::max(widest, 1.1 * text_width(series->name, 7) / 72 + 0.45);
  if (!entries.empty()) {
    const auto fit = static_cast<std::size_t>(figure.width / widest);
    out.legend_columns = std::clamp<std::size_t>(fit, 1, entries.size());
    out.legend_rows = (entries.size() + out.legend_columns - 1) / out.legend_columns;
    // Rows of even length.
    out.legend_columns = (entries.size() + out.legend_rows - 1) / out.legend_rows;
  }
  out.rows = (figure.panels.size() + figure.columns - 1) / figure.columns;
  const bool titled = std::ranges::any_of(
      figure.panels, [](const FigurePanel& panel) { return !panel.title.empty(); });
  out.title = titled ? kTitle : kTop;
  out.legend = static_cast<double>(out.legend_rows) * kLegendLine + (entries.empty() ? 0 : 0.06);
  out.panel_width = figure.width / static_cast<double>(figure.columns) - kLeft - kRight;
  out.height =
      out.legend + static_cast<double>(out.rows) * (out.title + figure.panel_height + kBottom);
  return out;
}

std::string margins(double left, double right, double bottom, double top) {
  return fmt::format(
      "  set lmargin at screen {:.5f}; set rmargin at screen {:.5f}\n"
      "  set bmargin at screen {:.5f}; set tmargin at screen {:.5f}\n",
      left, right, bottom, top);
}

std::string legend_script(const Figure& figure, const Layout& layout) {
  const auto entries = legend_of(figure);
  if (entries.empty()) return "";
  std::string out = margins(0.01, 0.99, 1 - layout.legend / layout.height, 0.995);
  out += fmt::format(
      "  unset border; unset xtics; unset ytics; unset title; unset xlabel; unset ylabel\n"
      "  unset logscale; unset label; set xrange [0:1]; set yrange [0:1]\n"
      "  set key at screen 0.5, screen {:.5f} center top horizontal Left reverse maxcols {} "
      "samplen 1.8 spacing 1.0 width 0 height 0 font small\n  plot ",
      1 - 0.02 / layout.height, layout.legend_columns);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const FigureSeries& series = *entries[i];
    out += fmt::format("{}NaN {}{} title {}", i == 0 ? "" : ", \\\n    ",
                       series.mark == SeriesMark::bars ? "with boxes " : "", style_of(series, true),
                       gnuplot_quoted(series.name));
  }
  return out + "\n  set border 3 lw 0.6\n  unset key\n";
}

std::string range_of(const FigureAxis& axis) {
  const auto end = [](double value) { return std::isfinite(value) ? script_number(value) : "*"; };
  return fmt::format("[{}:{}]", end(axis.low), end(axis.high));
}

std::string axis_script(char name, const FigureAxis& axis) {
  std::string out;
  if (axis.log_base != 0) out += fmt::format("  set logscale {} {}\n", name, axis.log_base);
  out += fmt::format("  set {}range {}\n", name, range_of(axis));
  if (name == 'x')
    out += fmt::format("  set xlabel {} offset 0,lift font normal\n", gnuplot_quoted(axis.label));
  if (axis.ticks.empty())
    return out + fmt::format("  set {}tics nomirror out scale 0.4 autofreq font small\n", name);
  out += fmt::format("  set {}tics nomirror out scale 0.4 (", name);
  for (std::size_t i = 0; i < axis.ticks.size(); ++i)
    out += fmt::format("{}{} {}", i == 0 ? "" : ", ", gnuplot_quoted(axis.ticks[i].second),
                       script_number(axis.ticks[i].first));
  return out + ") font small\n";
}

std::string panel_script(const Figure& figure, const Layout& layout, std::size_t which,
                         std::size_t& index) {
  const FigurePanel& panel = figure.panels[which];
  const auto column = static_cast<double>(which % figure.columns);
  const auto row = static_cast<double>(which / figure.columns);
  const double left = column * (figure.width / static_cast<double>(figure.columns)) + kLeft;
  const double top = layout.height - layout.legend - layout.title -
                     row * (layout.title + figure.panel_height + kBottom);
  std::string out = margins(left / layout.width, (left + layout.panel_width) / layout.width,
                            (top - figure.panel_height) / layout.height, top / layout.height);
  out += "  unset logscale; unset label\n";
  out += panel.title.empty() ? "  unset title\n"
                             : fmt::format("  set title {} offset 0,-0.7 font normal\n",
                                           gnuplot_quoted(panel.title));
  out += axis_script('x', panel.x) + axis_script('y', panel.y);
  // Not ylabel: its position depends on the width of the numbers, which each terminal measures
  // differently.
  out += fmt::format(
      "  set label {} at screen {:.5f}, screen {:.5f} center rotate by 90 font normal\n",
      gnuplot_quoted(panel.y.label), (left - kLeft + kYLabel) / layout.width,
      (top - figure.panel_height / 2) / layout.height);
  for (const FigureText& text : panel.texts)
    out += fmt::format("  set label {} at {},{} {} font small\n", gnuplot_quoted(text.text),
                       script_number(text.x), script_number(text.y),
                       text.right ? "left offset 0.7,0" : "center offset 0,1.1");
  out += "  plot ";
  for (std::size_t i = 0; i < panel.series.size(); ++i)
    out += (i == 0 ? "" : ", \\\n    ") + plot_of(panel.series[i], index++);
  return out + "\n";
}

const char* role_name(SeriesRole role) {
  switch (role) {
    case SeriesRole::simulated:
      return "simulated";
    case SeriesRole::first_principles:
      return "first principles";
    case SeriesRole::paper:
      return "paper";
    case SeriesRole::guide:
      return "guide";
  }
  return "";
}

// The text on one line, since a newline ends a comment.
std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

}  // namespace

std::string gnuplot_quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else if (c == '`')
      out += "\\140";  // gnuplot executes text between backquotes, even in quotes
    else
      out += c;
  }
  return out + '"';
}

std::string gnuplot_data(const Figure& figure) {
  std::string out;
  for (const FigurePanel& panel : figure.panels)
    for (const FigureSeries& series : panel.series) {
      if (!out.empty()) out += "\n\n";
      out += fmt::format("# panel: {} | series: {} | {}\n# x y low high from\n",
                         one_line(panel.title), one_line(series.name), role_name(series.role));
      for (const FigurePoint& p : series.points)
        out += fmt::format("{} {} {} {} {}\n", script_number(p.x), script_number(p.y),
                           script_number(p.low), script_number(p.high), script_number(p.from));
      // An empty block would shift the numbers of the following blocks.
      if (series.points.empty()) out += "NaN NaN NaN NaN NaN\n";
    }
  return out;
}

std::string gnuplot_script(const Figure& figure) {
  const Layout layout = layout_of(figure);
  std::string out = fmt::format(
      "# {0}.gp: in this folder, `gnuplot {0}.gp` draws {0}.svg and {0}.pdf from {0}.dat.\n"
      "# Needs gnuplot 5.4 (Debian: gnuplot-nox). s, lift: the two terminals size\n"
      "# markers and place labels differently; fontscale: pdfcairo takes points for pixels.\n"
      "reset\nset encoding utf8\ndata = \"{0}.dat\"\n"
      "do for [t=1:2] {{\n"
      "  if (t == 1) {{\n"
      "    set terminal svg size {1:.0f},{2:.0f} font \"Helvetica,10.67\" linewidth 1.0 "
      "background \"#ffffff\" name \"{0}\" noenhanced\n"
      "    set output \"{0}.svg\"; normal = \",10.67\"; small = \",9.33\"; s = 1.0; lift = 0.9\n"
      "  }} else {{\n"
      "    set terminal pdfcairo size {3:.4f}in,{4:.4f}in font \"Helvetica,8\" fontscale 0.75 "
      "linewidth 0.75 "
      "noenhanced\n"
      "    set output \"{0}.pdf\"; normal = \",8\"; small = \",7\"; s = 0.9; lift = 0.4\n"
      "  }}\n"
      "  set border 3 lw 0.6\n  set multiplot\n",
      figure.stem, layout.width * kPixelsPerInch, layout.height * kPixelsPerInch, layout.width,
      layout.height);
  out += legend_script(figure, layout);
  std::size_t index = 0;
  for (std::size_t i = 0; i < figure.panels.size(); ++i)
    out += panel_script(figure, layout, i, index);
  return out + "  unset multiplot\n  unset output\n}\n";
}

std::vector<ReportFile> gnuplot_files(const Figure& figure) {
  return {{figure.stem + ".dat", gnuplot_data(figure)},
          {figure.stem + ".gp", gnuplot_script(figure)}};
}

}  // namespace tiersim
