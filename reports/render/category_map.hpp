#pragma once
// A map of categories over two axes, as SVG: coloured cells with a letter in each, so that it is
// readable in black and white too, in panels over two further axes.
#include <optional>
#include <string>
#include <vector>

namespace tiersim {

struct MapCategory {
  std::string name;    ///< empty: not in the legend
  std::string letter;  ///< one character
};

struct MapCell {
  std::optional<std::size_t> category = {};  ///< none: an empty cell
  std::optional<std::size_t> tied = {};      ///< a second category that ties: the cell is divided
  double strength = 1;                       ///< 0 to 1: depth of the colour
  std::string note = {};                     ///< a few characters below the letter
};

/// Rows of cells from the lowest y to the highest, each from the lowest x to the highest.
using MapPanel = std::vector<std::vector<MapCell>>;

struct CategoryMap {
  std::string title;
  std::string subtitle = {};  ///< broken into lines
  std::string x_label;        ///< with its unit
  std::string y_label;
  std::vector<std::string> x_ticks;  ///< one for each column of cells
  std::vector<std::string> y_ticks;  ///< one for each row of cells
  std::vector<std::string> columns;  ///< titles of panels beside each other
  std::vector<std::string> rows;     ///< titles of panels below each other
  std::vector<MapCategory> categories;
  std::string empty;                          ///< what an empty cell means, for the legend
  std::vector<std::vector<MapPanel>> panels;  ///< by row, then column
};

std::string to_svg(const CategoryMap& map);

}  // namespace tiersim
