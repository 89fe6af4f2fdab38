#pragma once
// A static figure as a paper prints it: panels of lines, points and bars, without saying which
// program draws it. gnuplot_script.hpp writes one as a script and its data.
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace tiersim {

inline constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

struct PlotPoint {
  double x = 0;
  double y = 0;
  /// Interval of y, drawn as a whisker where both are finite.
  double low = kNoValue;
  double high = kNoValue;
  double from = 0;  ///< of a bar: where it begins; stacked bars begin at the end of the one below
};

/// What a value is: it decides how it is drawn, the same in every figure.
enum class PlotRole {
  simulated,         ///< under the paper's assumptions, or where there is one reading only; filled
  first_principles,  ///< from published dimensions: bars are pale, markers small
  paper,             ///< as printed: hollow black markers
  guide,             ///< a roof or a line to compare with: thin, grey
};

enum class PlotMark { line, points, bars };

struct PlotSeries {
  std::string name = {};  ///< in the legend, once for all panels; empty: not there
  PlotRole role = PlotRole::simulated;
  PlotMark mark = PlotMark::line;
  std::size_t style = 0;  ///< colour, dash and marker
  std::vector<PlotPoint> points = {};
  double bar_width = 0.8;  ///< in units of x
};

/// A few characters at a place of a panel.
struct PlotText {
  double x = 0;
  double y = 0;
  std::string text = {};
  bool right = false;  ///< of the place; else centred above it
};

struct PlotAxis {
  std::string label = {};  ///< with its unit
  int log_base = 0;        ///< 0: linear
  double low = kNoValue;   ///< not finite: as the data are
  double high = kNoValue;
  std::vector<std::pair<double, std::string>> ticks = {};  ///< empty: by the program
};

struct PlotPanel {
  std::string title = {};
  PlotAxis x = {};
  PlotAxis y = {};
  std::vector<PlotSeries> series = {};
  std::vector<PlotText> texts = {};
};

/// Widths of a two-column paper, in inches.
inline constexpr double kSingleColumn = 3.35;
inline constexpr double kDoubleColumn = 7.0;

struct PaperFigure {
  std::string stem = {};     ///< of its files, and its name in a page: "maple_fig1_left"
  std::string where = {};    ///< "Figure 1 left"; empty for what goes beyond the paper
  std::string caption = {};  ///< what is shown, under which conditions, of which class
  double width = kSingleColumn;
  double panel_height = 1.6;  ///< in: the plot alone
  std::size_t columns = 1;    ///< panels beside each other
  std::vector<PlotPanel> panels = {};
};

/// A figure with what was drawn of it: an SVG file's text, or why there is none.
struct DrawnFigure {
  PaperFigure figure;
  std::string svg = {};
  std::string problem = {};
};

}  // namespace tiersim
