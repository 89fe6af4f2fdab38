#pragma once
// Which of a few categories holds at every point of two axes, as SVG: coloured cells with a letter
// in each, so that it reads in black and white too, in panels over two further axes.
#include <optional>
#include <string>
#include <vector>

namespace tiersim {

struct MapCategory {
  std::string name;    ///< not in the legend where empty
  std::string letter;  ///< one character
};

struct MapCell {
  std::optional<std::size_t> category = {};  ///< none: an empty cell
  std::optional<std::size_t> tied = {};      ///< holds as well: the cell is divided
  double strength = 1;                       ///< 0 to 1: how deep the colour is
  std::string note = {};                     ///< a few characters below the letter
};

/// Rows of cells from the lowest y to the highest, each from the lowest x to the highest.
using MapPanel = std::vector<std::vector<MapCell>>;

struct CategoryMap {
  std::string title;
  std::string subtitle = {};  ///< broken into lines
  std::string x_label;        ///< with its unit
  std::string y_label;
  std::vector<std::string> x_ticks;  ///< one a column of cells
  std::vector<std::string> y_ticks;  ///< one a row of cells
  std::vector<std::string> columns;  ///< titles of panels beside each other
  std::vector<std::string> rows;     ///< titles of panels below each other
  std::vector<MapCategory> categories;
  std::string empty;                          ///< what an empty cell means, for the legend
  std::vector<std::vector<MapPanel>> panels;  ///< by row, then column
};

std::string to_svg(const CategoryMap& map);

}  // namespace tiersim
