#pragma once
// One self-contained page: styles, scripts, drawings and data are inside, and its content security
// policy lets nothing else load or run. It is whole without scripts; with them tables can be sorted
// and the colours switched. Reads at 400 px, in the dark, in print, by keyboard and aloud.
//
//   Page page("MAPLE", "simulated beside printed");
//   page.section("Table 1");
//   page.text("Each cell is ...");
//   page.table(table);
//   page.figure({.svg = to_svg(chart), .caption = "Fig. 3: ...", .alt = "Time falls from ..."});
//   write_file("index.html", page.html());
//
// The same calls give the same bytes: no clock, no random number.
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
  std::string alt = {};      ///< what a reader gets who does not see it; else the caption
  std::string id = {};       ///< to link to; made of the caption where empty
  /// Files with the same, which the caption links to: name and path relative to the page.
  std::vector<std::pair<std::string, std::string>> files = {};
};

/// What a table shows besides its text. Rows and columns count from 0.
struct TableLook {
  std::string id = {};        ///< to link to; made of the title where empty
  bool row_headers = true;    ///< the first cell of a row names it
  bool sortable = true;       ///< where scripts run: by a button in each head
  std::size_t shown_max = 0;  ///< rows, then a line says how many there are; 0: all
  /// "good", "bad", "warn", "quiet" or nothing: how a cell stands out, besides by its text.
  std::function<std::string_view(std::size_t row, std::size_t column)> mark = {};
  /// Id of the element that a cell links to, or nothing.
  std::function<std::string(std::size_t row, std::size_t column)> link = {};
};

class Page {
 public:
  explicit Page(std::string_view title, std::string_view subtitle = {});

  /// A heading (level 2 to 4) with an id, given or made of its text. Levels 2 and 3 are in the
  /// navigation. Returns the id. An id that is given must be new.
  std::string section(std::string_view heading, int level = 2, std::string_view id = {});
  void text(std::string_view paragraph);
  void text(const Html& paragraph);
  void list(const std::vector<std::string>& items);
  /// Names and their values.
  void facts(const std::vector<std::pair<std::string, std::string>>& facts);
  /// Lines as they are, in a box that scrolls.
  void code(std::string_view lines);
  std::string table(const Table& table, const TableLook& look = {});
  std::string figure(const PageFigure& figure);
  /// What follows until the matching end is folded under a summary; printed unfolded.
  void begin_details(std::string_view summary, bool open = false);
  void end_details();
  /// Anything else, in the flow.
  void markup(const Html& markup);

  /// Data for scripts: <script type="application/json" id=...>.
  void data(std::string_view id, std::string_view json);
  /// Runs at the end, in the order of the calls, after the page's own. Must not contain
  /// "</script".
  void script(std::string_view code);
  /// After the page's own styles. Must not contain "</style".
  void style(std::string_view css);
  /// A last line: version, run ids.
  void footer(std::string_view text);

  /// An id that nothing on this page has, made of the text; taken from then on.
  std::string new_id(std::string_view text);

  /// The whole file.
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
