#pragma once
// One self-contained page: styles, scripts, drawings and data are inside, and its content security
// policy blocks everything else. All content is readable without scripts; scripts add sorting of
// tables and switching of colours. The page suits narrow screens of 400 px, dark mode, print,
// keyboards and screen readers.
//
//   Page page("MAPLE", "simulated beside printed");
//   page.section("Table 1");
//   page.text("Each cell is ...");
//   page.table(table);
//   page.figure({.svg = to_svg(chart), .caption = "Fig. 3: ...", .alt = "Time falls from ..."});
//   write_file("index.html", page.html());
//
// The same calls give the same bytes: no clock and no random number is used.
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/html/markup.hpp"
#include "reports/render/table.hpp"

namespace tiersim {

struct PageFigure {
  std::string svg;           ///< a whole SVG file; see inline_svg
  std::string caption = {};  ///< below it
  std::string alt = {};      ///< text for readers who do not see the figure; empty: the caption
  std::string id = {};       ///< to link to; made of the caption where empty
  /// The files of the figure that the caption links to: name and path relative to the page.
  std::vector<std::pair<std::string, std::string>> files = {};
};

/// Presentation of a table. Rows and columns count from 0.
struct TableLook {
  std::string id = {};        ///< to link to; made of the title where empty
  bool row_headers = true;    ///< the first cell of a row names it
  bool sortable = true;       ///< with scripts: a button in the head of each column
  bool narrow = false;        ///< columns of text may be as narrow as the page needs
  std::size_t shown_max = 0;  ///< number of rows shown, and a line with the total; 0: all
  /// Highlight of a cell: "good", "bad", "warn", "quiet" or none. Its text says the same.
  std::function<std::string_view(std::size_t row, std::size_t column)> mark = {};
  /// Id of the element that a cell links to; empty: no link.
  std::function<std::string(std::size_t row, std::size_t column)> link = {};
};

class Page {
 public:
  explicit Page(std::string_view title, std::string_view subtitle = {});

  /// A heading of level 2 to 4 with a given id, or one made from its text. Levels 2 and 3 are in
  /// the navigation. Returns the id. A given id must be new on the page.
  std::string section(std::string_view heading, int level = 2, std::string_view id = {});
  void text(std::string_view paragraph);
  void text(const Html& paragraph);
  void list(const std::vector<std::string>& items);
  /// A list of names with their values.
  void facts(const std::vector<std::pair<std::string, std::string>>& facts);
  /// Preformatted lines in a box that scrolls.
  void code(std::string_view lines);
  std::string table(const Table& table, const TableLook& look = {});
  std::string figure(const PageFigure& figure);
  /// Content until end_details() is folded under a summary. Print shows it unfolded.
  void begin_details(std::string_view summary, bool open = false);
  void end_details();
  /// Any other markup.
  void markup(const Html& markup);

  /// Data for scripts: <script type="application/json" id=...>.
  void data(std::string_view id, std::string_view json);
  /// A script that runs after the page's own scripts, in the order of the calls. It must not
  /// contain "</script".
  void script(std::string_view code);
  /// Styles that follow the page's own. They must not contain "</style".
  void style(std::string_view css);
  /// The last line: version and run ids.
  void footer(std::string_view text);

  /// A new id on this page, made from the text and reserved from then on.
  std::string new_id(std::string_view text);

  /// The complete HTML file.
  std::string html() const;

 private:
  struct Heading {
    int level = 2;
    std::string id;
    std::string text;
  };
  std::string taken(std::string_view given, std::string_view otherwise);
  std::string navigation() const;

  std::string title_;
  std::string subtitle_;
  std::string body_;
  std::vector<std::string> data_;
  std::vector<std::string> scripts_;
  std::vector<std::string> styles_;
  std::string footer_;
  std::vector<Heading> headings_;
  std::set<std::string> ids_;
  int figures_ = 0;
  int open_details_ = 0;
};

}  // namespace tiersim
