#pragma once
// One table of text, as reports print it and as lists and studies fill it. reports/render/table.hpp
// writes it as text, Markdown, CSV, LaTeX and JSON.
#include <string>
#include <vector>

namespace tiersim {

enum class Align { left, right };

struct Column {
  std::string title;
  Align align = Align::right;
};

struct Table {
  std::string title;
  std::vector<Column> columns = {};
  std::vector<std::vector<std::string>> rows = {};  ///< each as long as columns
  std::vector<std::string> notes = {};              ///< printed below, one a line

  void add(std::vector<std::string> row);
};

}  // namespace tiersim
