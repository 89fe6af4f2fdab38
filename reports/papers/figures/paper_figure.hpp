#pragma once
// A static figure in the form of a paper: panels of lines, points and bars. It does not depend on
// the drawing program; gnuplot_script.hpp writes it as a script with data.
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
  double from = 0;  ///< of a bar: its lower end; a stacked bar begins at the end of the one below
};

/// Origin of a value. Each origin is drawn in the same way in every figure.
enum class PlotRole {
  simulated,         ///< under the paper's assumptions, or the only reading; filled
  first_principles,  ///< from published dimensions: bars are pale, markers small
  paper,             ///< as printed: hollow black markers
  guide,             ///< a roof or a line to compare with: thin, grey
};

enum class PlotMark { line, points, bars };

struct PlotSeries {
  std::string name = {};  ///< in the legend, once for all panels; empty: not in the legend
  PlotRole role = PlotRole::simulated;
  PlotMark mark = PlotMark::line;
  std::size_t style = 0;  ///< colour, dash and marker
  std::vector<PlotPoint> points = {};
  double bar_width = 0.8;  ///< in units of x
};

/// A few characters at a position of a panel.
struct PlotText {
  double x = 0;
  double y = 0;
  std::string text = {};
  bool right = false;  ///< true: to the right of the position; false: centred above it
};

struct PlotAxis {
  std::string label = {};  ///< with its unit
  int log_base = 0;        ///< 0: linear
  double low = kNoValue;   ///< not finite: from the data
  double high = kNoValue;
  std::vector<std::pair<double, std::string>> ticks = {};  ///< empty: chosen by the program
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
  std::string stem = {};     ///< stem of its file names, and its name in a page: "maple_fig1_left"
  std::string where = {};    ///< "Figure 1 left"; empty for figures beyond the paper
  std::string caption = {};  ///< content, conditions and class of the numbers
  double width = kSingleColumn;
  double panel_height = 1.6;  ///< inches, of the plot alone
  std::size_t columns = 1;    ///< panels beside each other
  std::vector<PlotPanel> panels = {};
};

/// A figure with the text of its SVG file, or with the reason why it was not drawn.
struct DrawnFigure {
  PaperFigure figure;
  std::string svg = {};
  std::string problem = {};
};

}  // namespace tiersim
