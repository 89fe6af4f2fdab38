#pragma once
// A table of typed cells, which reports print and which lists and studies fill. A cell keeps its
// value and, where people read it rounded, the rounded text. reports/render/table.hpp writes text,
// Markdown, LaTeX and HTML from the texts, and CSV and JSON from the values.
//
//   Table table{.title = "Devices", .columns = {{"device", Align::left}, {"time"}}};
//   table.add({"hbm", Cell(0.0123, "12.3 ms")});
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tiersim {

struct Table;

class Cell {
 public:
  /// The row has no such quantity. A row of JSON leaves the key out, whereas an empty cell is null.
  struct Absent {
    bool operator==(const Absent&) const = default;
  };
  /// The alternatives are: empty, absent, a text, a whole number, a number in the unit of its
  /// column, a truth value, several texts, and the rows of another table.
  using Value = std::variant<std::monostate, Absent, std::string, std::int64_t, double, bool,
                             std::vector<std::string>, std::shared_ptr<const Table>>;

  Cell();
  // These are not inline, since every report copies and moves cells and the code of a variant is
  // long.
  Cell(const Cell& other);
  Cell(Cell&& other) noexcept;
  Cell& operator=(const Cell& other);
  Cell& operator=(Cell&& other) noexcept;
  ~Cell();
  Cell(Absent absent) : value_(absent) {}
  Cell(std::string text) : value_(std::move(text)) {}
  Cell(std::string_view text) : value_(std::string(text)) {}
  Cell(const char* text) : value_(std::string(text)) {}
  template <std::integral Whole>
  requires(!std::same_as<Whole, bool> && !std::same_as<Whole, char>) Cell(Whole whole)
      : value_(static_cast<std::int64_t>(whole)) {}
  Cell(std::floating_point auto number) : value_(static_cast<double>(number)) {}
  Cell(std::same_as<bool> auto truth) : value_(truth) {}
  Cell(Value value, std::string shown) : value_(std::move(value)), shown_(std::move(shown)) {}
  /// A number in a base unit with the text of display(): 0.0123 s is shown as "12.3 ms".
  static Cell quantity(double value, std::string_view unit);

  const Value& value() const { return value_; }
  /// The number of the cell, whole or not; absent where the cell holds something else.
  std::optional<double> number() const;
  /// The text for people: the text that was given with the value. Without one, an empty cell is "",
  /// a number has four digits, a truth value is yes or no, and several texts have commas between
  /// them.
  std::string shown() const;
  /// The text for CSV. A number has as many digits as are needed to read the same number back.
  std::string exact() const;

  friend bool operator==(const Cell& a, const Cell& b) {
    return a.value_ == b.value_ && a.shown() == b.shown();
  }

 private:
  Value value_ = {};
  std::optional<std::string> shown_ = {};
};

using Row = std::vector<Cell>;

/// The texts for people of the cells of a row.
std::vector<std::string> shown_texts(const Row& row);

/// `by_cells` aligns to the left where any cell of the column is a text, else to the right.
enum class Align { left, right, by_cells };

/// The readers who get a column or a table. People read text, Markdown, LaTeX and HTML. Programs
/// read CSV and JSON.
enum class Readers { everyone, people, programs, csv, json };

struct Column {
  std::string title;
  Align align = Align::right;
  std::string key = {};     ///< name for programs; the title where empty
  std::string csv = {};     ///< head in CSV where that is not the key
  std::string within = {};  ///< object of the row that holds it in JSON; the row itself where empty
  std::string unit = {};    ///< unit of its numbers
  Readers readers = Readers::everyone;
};

/// Columns of these titles, aligned by their cells.
std::vector<Column> columns_by_cells(std::initializer_list<std::string> titles);

struct Table {
  std::string id = {};  ///< name of its file: letters, digits, '_' and '-'
  std::string title = {};
  std::vector<Column> columns = {};
  std::vector<Row> rows = {};           ///< each as long as columns
  std::vector<std::string> notes = {};  ///< printed below, one a line
  Readers readers = Readers::everyone;
  std::optional<std::size_t> people_rows =
      {};  ///< number of first rows that people read; all where absent

  void add(Row row);
  /// A row of texts.
  template <std::same_as<std::vector<std::string>> Texts>
  void add(Texts texts) {
    add(Row(std::make_move_iterator(texts.begin()), std::make_move_iterator(texts.end())));
  }
};

/// A cell that holds another table. In JSON it is a list of rows within the row.
Cell nested(Table table, std::string shown);

enum class TableForm { people, csv, json };
bool is_for(Readers readers, TableForm form);
/// Indices of the columns that the form shows.
std::vector<std::size_t> columns_for(const Table& table, TableForm form);
/// The number of rows that people read.
std::size_t people_rows(const Table& table);
/// The alignment of a column, left or right; by_cells is resolved.
Align alignment(const Table& table, std::size_t column);
/// The head of a column in CSV, and its key in JSON.
const std::string& csv_head(const Column& column);
const std::string& json_key(const Column& column);

}  // namespace tiersim
