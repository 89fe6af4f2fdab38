#pragma once
// A static figure: panels of lines, points, bars or cells over two axes. It does not depend on the
// drawing program: figure_svg.hpp draws it as SVG, gnuplot_script.hpp writes it as a script with
// data.
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/number_class.hpp"
#include "sim/base/pareto.hpp"

namespace tiersim {

inline constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

/// The place of a point in a Pareto front. Points of the front, and its knee, are drawn stronger
/// than dominated points.
enum class Emphasis { none, front, knee };

struct FigurePoint {
  double x = 0;
  double y = 0;  ///< not finite: no value, which interrupts a line
  /// Interval of y, drawn as a whisker where both are finite.
  double low = kNoValue;
  double high = kNoValue;
  double from = 0;  ///< lower end of a bar; a stacked bar begins where the one below it ends
  /// Interval of x, drawn for points of a front.
  double x_low = kNoValue;
  double x_high = kNoValue;
  Emphasis emphasis = Emphasis::none;
  std::string label = {};  ///< beside a point of a front, where there is room
  std::size_t order = 0;   ///< points of a front are drawn from the lowest order to the highest

  bool has_interval() const;
  bool has_x_interval() const;
  /// Sets the interval of y or of x to `ci95` times the factor. Does nothing where `ci95` is
  /// absent.
  void set_interval(const std::optional<Interval<double>>& ci95, double factor = 1);
  void set_x_interval(const std::optional<Interval<double>>& ci95, double factor = 1);
};

/// Origin of a value. Each origin is drawn in the same way in every figure.
enum class SeriesRole {
  simulated,         ///< under the paper's assumptions, or the only reading; filled
  first_principles,  ///< from published dimensions: bars are pale, markers small
  paper,             ///< as printed: hollow black markers
  guide,             ///< a roof or a line to compare with: thin, grey
};

enum class SeriesMark { line, points, bars };

struct FigureSeries {
  std::string name = {};  ///< in the legend, once for all panels; empty: not in the legend
  SeriesRole role = SeriesRole::simulated;
  SeriesMark mark = SeriesMark::line;
  std::size_t style = 0;  ///< colour, dash and marker
  std::vector<FigurePoint> points = {};
  double bar_width = 0.8;  ///< in units of x
};

/// A few characters at a position of a panel.
struct FigureText {
  double x = 0;
  double y = 0;
  std::string text = {};
  bool right = false;  ///< true: to the right of the position; false: centred above it
};

/// A value of y to hold against the points, such as a service level objective (SLO).
struct FigureLimit {
  double y = 0;
  std::string label = {};  ///< beside the line: "limit 200 ms"
};

struct FigureAxis {
  std::string label = {};  ///< with its unit
  int log_base = 0;        ///< 0: linear
  double low = kNoValue;   ///< not finite: from the data
  double high = kNoValue;
  std::vector<std::pair<double, std::string>> ticks = {};  ///< empty: chosen by the program
};

/// The better direction of each axis of a panel with a Pareto front. Its axes are logarithmic where
/// the values span more than a factor of thirty, else linear.
struct FigureFront {
  Sense x_better = Sense::minimize;
  Sense y_better = Sense::minimize;
  bool joined = true;  ///< by a step line; points on its worse side are dominated
};

/// The category that holds at a position of two axes.
struct FigureCell {
  std::optional<std::size_t> category = {};  ///< none: an empty cell
  std::optional<std::size_t> tied = {};      ///< a second category that ties: the cell is divided
  double strength = 1;                       ///< 0 to 1: depth of the colour
  std::string note = {};                     ///< a few characters below the letter
};

struct FigureCategory {
  std::string name;    ///< empty: not in the legend
  std::string letter;  ///< one character
};

struct FigurePanel {
  std::string title = {};
  FigureAxis x = {};
  FigureAxis y = {};
  std::vector<FigureSeries> series = {};
  std::vector<FigureText> texts = {};
  /// Dashed lines across the panel, in figures of lines and points that to_svg() draws.
  std::vector<FigureLimit> limits = {};
  std::optional<FigureFront> front = {};
  /// The cells of a map, which has no series. Rows go from the lowest tick of y to the highest, and
  /// each row goes from the lowest tick of x to the highest.
  std::vector<std::vector<FigureCell>> cells = {};
};

/// Widths of a two-column paper, in inches.
inline constexpr double kSingleColumn = 3.35;
inline constexpr double kDoubleColumn = 7.0;

struct Figure {
  std::string stem = {};      ///< name of its files and of its place in a page: "maple_fig1_left"
  std::string title = {};     ///< inside the drawing; figures of papers have a caption instead
  std::string subtitle = {};  ///< below the title, broken into lines
  std::string where = {};     ///< "Figure 1 left"; empty for what goes beyond the paper
  std::string caption = {};   ///< content, conditions and class of the numbers
  double width = kSingleColumn;
  double panel_height = 1.6;  ///< height of the plot without labels, in inches
  std::size_t columns = 1;    ///< panels beside each other
  bool common_x = false;      ///< one scale for all panels, so that they can be compared
  bool common_y = false;
  std::vector<FigurePanel> panels = {};
  std::vector<std::string> row_titles = {};     ///< titles beside the rows of a map's panels
  std::vector<FigureCategory> categories = {};  ///< the categories of a map
  std::string empty = {};                       ///< meaning of an empty cell of a map
};

/// A figure with its drawing as the text of an SVG file, or the reason why there is none.
struct DrawnFigure {
  Figure figure;
  std::string svg = {};
  std::string problem = {};
};

/// Gives each name of a series a style of its own, the same in all panels, in the order in which
/// the names come first.
void number_styles(Figure& figure);

}  // namespace tiersim
