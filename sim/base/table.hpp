#pragma once
// One table of typed cells: what reports print, and what lists and studies hand to them. A cell
// keeps its value and, where people read it rounded, that text; reports/render/table.hpp writes
// text, Markdown, LaTeX and HTML from what people read, CSV and JSON from the values.
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
  /// There is no such thing in this row: a row of JSON leaves it out, where nothing is null.
  struct Absent {
    bool operator==(const Absent&) const = default;
  };
  /// Nothing, absent, text, a whole number, a number in the unit of its column, a truth, texts, or
  /// the rows of another table.
  using Value = std::variant<std::monostate, Absent, std::string, std::int64_t, double, bool,
                             std::vector<std::string>, std::shared_ptr<const Table>>;

  Cell();
  // Not inline: a variant's are long, and every report copies and moves cells.
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
  /// A number of a base unit, shown as display() does: "12.3 ms" of 0.0123 s.
  static Cell quantity(double value, std::string_view unit);

  const Value& value() const { return value_; }
  /// Of a number, also a whole one.
  std::optional<double> number() const;
  /// As people read it: the text that it was given, else "" of nothing, four digits of a number,
  /// yes or no, and texts with commas between them.
  std::string shown() const;
  /// As CSV has it: the value, a number with as many digits as read back the same.
  std::string exact() const;

  friend bool operator==(const Cell& a, const Cell& b) {
    return a.value_ == b.value_ && a.shown() == b.shown();
  }

 private:
  Value value_ = {};
  std::optional<std::string> shown_ = {};
};

using Row = std::vector<Cell>;

/// A row as people read it.
std::vector<std::string> shown_texts(const Row& row);

/// `by_cells`: to the left where any cell of the column is a text.
enum class Align { left, right, by_cells };

/// Who gets a column, or a table. People read text, Markdown, LaTeX and HTML; programs CSV and
/// JSON.
enum class Readers { everyone, people, programs, csv, json };

struct Column {
  std::string title;
  Align align = Align::right;
  std::string key = {};     ///< name for programs; the title where empty
  std::string csv = {};     ///< head in CSV where that is not the key
  std::string within = {};  ///< object of the row that holds it in JSON; the row itself where empty
  std::string unit = {};    ///< of its numbers
  Readers readers = Readers::everyone;
};

/// Columns of these titles, aligned by their cells.
std::vector<Column> columns_by_cells(std::initializer_list<std::string> titles);

struct Table {
  std::string id = {};  ///< of a file: letters, digits, '_' and '-'
  std::string title = {};
  std::vector<Column> columns = {};
  std::vector<Row> rows = {};           ///< each as long as columns
  std::vector<std::string> notes = {};  ///< printed below, one a line
  Readers readers = Readers::everyone;
  std::optional<std::size_t> people_rows = {};  ///< people read the first ones; else all

  void add(Row row);
  /// A row of texts.
  template <std::same_as<std::vector<std::string>> Texts>
  void add(Texts texts) {
    add(Row(std::make_move_iterator(texts.begin()), std::make_move_iterator(texts.end())));
  }
};

/// Cells of another table, for a row of JSON.
Cell nested(Table table, std::string shown);

enum class TableForm { people, csv, json };
bool is_for(Readers readers, TableForm form);
/// Indices of the columns that a form has.
std::vector<std::size_t> columns_for(const Table& table, TableForm form);
/// How many rows people read.
std::size_t people_rows(const Table& table);
/// Left or right, also of a column that its cells align.
Align alignment(const Table& table, std::size_t column);
/// Head of a column in CSV, and its name in JSON.
const std::string& csv_head(const Column& column);
const std::string& json_key(const Column& column);

}  // namespace tiersim
