#include "hwmodels/calibrate/table/timing_table.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "hwmodels/calibrate/read/csv_table.hpp"
#include "hwmodels/calibrate/read/order_statistics.hpp"
#include "hwmodels/calibrate/read/timing_text.hpp"
#include "hwmodels/calibrate/table/named_rows.hpp"
#include "hwmodels/forms/kernel_form.hpp"
#include "sim/base/text.hpp"
#include "sim/expression/expression.hpp"

namespace tiersim {
namespace {

constexpr std::size_t kMostMistakes = 20;
constexpr std::size_t kAbsent = static_cast<std::size_t>(-1);  // position of an absent column

using Names = std::map<std::string, ExpressionValue, std::less<>>;

struct Formulas {
  std::vector<std::pair<std::string, Expression>> values;
  std::optional<Expression> rows, memory_bytes, flops, working_set, operation, port_bytes;
  std::vector<Expression> split;
  std::vector<Expression> refuse;      // as in the description
  std::vector<Expression> form_sizes;  // in the order of the form
};

// The description was checked, so that every formula parses.
Formulas formulas_of(const TimingTableConfig& config) {
  const auto parsed = [](const std::string& text) { return *Expression::parse(text); };
  Formulas out;
  for (const TableValue& value : config.values)
    out.values.emplace_back(value.name, parsed(value.is));
  const auto given = [&](const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(parsed(text));
  };
  out.rows = given(config.rows);
  out.memory_bytes = given(config.memory_bytes);
  out.flops = given(config.flops);
  out.working_set = given(config.working_set);
  out.operation = given(config.operation);
  out.port_bytes = given(config.port_bytes);
  for (const TableRefusal& rule : config.refuse) out.refuse.push_back(parsed(rule.where));
  for (const std::string& formula : config.split) out.split.push_back(parsed(formula));
  if (config.form)
    for (const FormSize& size : find_form(config.form->name)->sizes())
      out.form_sizes.push_back(parsed(config.form->sizes.at(std::string(size.name))));
  return out;
}

class Reader {
 public:
  Reader(std::string file, const TimingTableConfig& config, double l2_bytes,
         Diagnostics& diagnostics)
      : file_(std::move(file)),
        config_(config),
        formulas_(formulas_of(config)),
        l2_bytes_(l2_bytes),
        diagnostics_(diagnostics),
        rules_(config.kernels) {}

  TimingTable read(std::string_view text) {
    TimingTable table{.file = file_, .kernels = {}};
    const bool talks = config_.format == TableFormat::nsys;
    const detail::CsvTable cells = detail::read_csv_table(
        file_, text, diagnostics_, talks ? std::string_view(config_.time.column) : "");
    if (!diagnostics_.ok()) return table;
    if (cells.header.cells.empty()) {
      const bool empty = trimmed(text).find_first_not_of("\r\n") == std::string_view::npos;
      fail(1, 1,
           empty ? "this file is empty"
                 : fmt::format("no line has the column '{}'", config_.time.column));
      return table;
    }
    find_columns(cells.header);
    if (!diagnostics_.ok()) return table;
    std::map<std::string, TimingKernel> kernels;
    for (const detail::CsvRow& row : cells.rows) {
      add(row, kernels);
      if (diagnostics_.list().size() >= kMostMistakes) break;
    }
    for (const std::string& note : rules_.notes()) table.notes.push_back(file_ + ": " + note);
    if (skipped_ > 0)
      table.notes.push_back(fmt::format("{}: {} skipped rows are left out", file_, skipped_));
    if (kernels.empty() && !rules_.unnamed().empty())
      fail(cells.header.line, 1, "no row follows a rule of 'kernels'",
           "names: " + detail::some_of(rules_.unnamed(), 8));
    for (auto& [name, kernel] : kernels) table.kernels.push_back(std::move(kernel));
    return table;
  }

 private:
  void fail(int line, int column, std::string message, std::string hint = {}) {
    Diagnostic mistake;
    mistake.where = {file_, line, column};
    mistake.message = std::move(message);
    mistake.hint = std::move(hint);
    diagnostics_.report(std::move(mistake));
  }

  void find_columns(const detail::CsvRow& header) {
    for (const detail::CsvCell& cell : header.cells) present_.push_back(cell.text);
    std::vector<std::string> known;
    const auto find = [&](const std::string& column) {
      known.push_back(column);
      const auto at = std::ranges::find(present_, column);
      if (at == present_.end())
        fail(header.line, 1, fmt::format("there is no column '{}'", column),
             "columns: " + join(present_));
      else if (std::ranges::count(present_, column) > 1)
        fail(header.line, 1, fmt::format("the column '{}' stands twice", column));
      return static_cast<std::size_t>(at - present_.begin());
    };
    const auto find_or_given = [&](const std::string& column) {
      if (!rules_.give(column)) return find(column);
      known.push_back(column);
      return kAbsent;
    };
    for (const std::string& column : config_.labels) labels_.push_back(find_or_given(column));
    for (const std::string& column : config_.sizes) {
      const bool lacks = std::ranges::find(present_, column) == present_.end();
      sizes_.push_back(lacks && config_.absent.contains(column) ? kAbsent : find_or_given(column));
    }
    known.insert(known.end(), config_.unused.begin(), config_.unused.end());
    time_ = find(config_.time.column);
    if (!rules_.empty()) name_ = find(names_column());
    find_columns_of_rules(header);
    for (const detail::CsvCell& cell : header.cells)
      if (std::ranges::find(known, cell.text) == known.end() && !is_result(cell.text))
        fail(header.line, cell.column,
             fmt::format("the description does not name the column '{}'", cell.text),
             "name it among labels, sizes or unused");
  }

  void find_columns_of_rules(const detail::CsvRow& header) {
    for (std::size_t i = 0; i < config_.kernels.size(); ++i) {
      const auto where = Expression::parse(config_.kernels[i].where);
      if (!where) continue;
      for (const std::string& column : where->names())
        if (std::ranges::find(present_, column) == present_.end())
          fail(header.line, 1,
               fmt::format("there is no column '{}', which kernels.{}.where names", column, i),
               "columns: " + join(present_));
    }
  }

  std::string names_column() const {
    if (!config_.names.empty()) return config_.names;
    return config_.format == TableFormat::nsys ? "Name" : "Benchmark";
  }

  // Columns that the format always has, and that tell no case from another. A column of nvbench
  // without a unit may be an axis.
  bool is_result(std::string_view column) const {
    if (config_.format == TableFormat::nsys) return true;
    if (config_.format != TableFormat::nvbench) return false;
    constexpr std::array<std::string_view, 9> kNames{"Benchmark", "Device",  "Device Name",
                                                     "Skipped",   "Samples", "Noise",
                                                     "Elem/s",    "BWUtil",  "Batch GPU"};
    constexpr std::array<std::string_view, 7> kUnits{
        " (sec)", " (elem/sec)", " (bytes/sec)", " (bytes)", " (%)", " (pow2)", " (Hz)"};
    return std::ranges::find(kNames, column) != kNames.end() ||
           std::ranges::any_of(kUnits,
                               [&](std::string_view unit) { return column.ends_with(unit); });
  }

  // A column of the file in the formula of a rule: a number where it is one, else text.
  std::optional<ExpressionValue> column_value(const detail::CsvRow& row,
                                              std::string_view column) const {
    const auto at = std::ranges::find(present_, column);
    if (at == present_.end()) return std::nullopt;
    const std::string& text = row.cells[static_cast<std::size_t>(at - present_.begin())].text;
    const auto number = parse_number(text);
    if (number) return Magnitude{*number};
    return text;
  }

  // True for a row that nvbench did not run.
  bool is_skipped(const detail::CsvRow& row) const {
    const auto at = std::ranges::find(present_, "Skipped");
    return config_.format == TableFormat::nvbench && at != present_.end() &&
           row.cells[static_cast<std::size_t>(at - present_.begin())].text == "Yes";
  }

  // Reports a second device, whose timings would be taken for repeats of the first.
  void check_device(const detail::CsvRow& row) {
    if (config_.format == TableFormat::csv) return;
    const auto at =
        std::ranges::find(present_, config_.format == TableFormat::nsys ? "Device" : "Device Name");
    if (at == present_.end()) return;
    const detail::CsvCell& cell = row.cells[static_cast<std::size_t>(at - present_.begin())];
    if (device_.empty()) device_ = cell.text;
    if (cell.text != device_)
      fail(row.line, cell.column,
           fmt::format("this row is of '{}', the rows before of '{}'", cell.text, device_),
           "one file for each device");
  }

  // The cell of a label or size: of the file, or of the rule that names the row.
  detail::CsvCell cell_of(const detail::CsvRow& row, const std::string& column,
                          std::size_t at) const {
    const auto given = texts_.find(column);
    if (given != texts_.end()) return {given->second, row.cells[name_].column};
    return row.cells[at];
  }

  std::optional<double> number(const detail::CsvRow& row, const detail::CsvCell& cell) {
    const auto value = parse_number(cell.text);
    if (!value || *value < 0) {
      fail(row.line, cell.column, fmt::format("'{}' is no number of at least 0", cell.text));
      return std::nullopt;
    }
    return value;
  }

  // The number of a text that stands for a size.
  std::optional<double> named(const detail::CsvRow& row, const detail::CsvCell& cell,
                              const std::map<std::string, double>& names) {
    const auto found = names.find(cell.text);
    if (found != names.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& [text, value] : names) known.push_back(text);
    fail(row.line, cell.column, fmt::format("the description has no number for '{}'", cell.text),
         "texts: " + join(known));
    return std::nullopt;
  }

  std::optional<double> size_of(const detail::CsvRow& row, std::size_t i) {
    const std::string& name = config_.sizes[i];
    if (sizes_[i] == kAbsent && !texts_.contains(name)) return config_.absent.at(name);
    const detail::CsvCell cell = cell_of(row, name, sizes_[i]);
    const auto text = std::ranges::find(config_.texts, name, &TextSize::column);
    if (text != config_.texts.end()) return named(row, cell, text->names);
    return number(row, cell);
  }

  bool tells_shapes_apart(const std::string& size) const {
    const auto among = [&](const std::vector<std::string>& sizes) {
      return std::ranges::find(sizes, size) != sizes.end();
    };
    return config_.shapes.empty() ? !among(config_.samples) : among(config_.shapes);
  }

  // The value of a formula for a row; a mistake is reported at the row.
  std::optional<ExpressionValue> value_of(const Expression& formula, const Names& names, int line) {
    const auto value =
        formula.evaluate([&](std::string_view name) -> std::optional<ExpressionValue> {
          const auto found = names.find(name);
          if (found == names.end()) return std::nullopt;
          return found->second;
        });
    if (value) return *value;
    fail(line, 1, fmt::format("'{}': {}", formula.text(), value.error().message));
    return std::nullopt;
  }

  std::optional<double> amount(const Expression& formula, const Names& names, int line) {
    const auto value = value_of(formula, names, line);
    if (!value) return std::nullopt;
    if (const bool* truth = std::get_if<bool>(&*value)) return *truth ? 1 : 0;
    const auto* number = std::get_if<Magnitude>(&*value);
    if (number && number->value >= 0) return number->value;
    fail(line, 1, fmt::format("'{}' gives no number of at least 0", formula.text()));
    return std::nullopt;
  }

  std::optional<bool> truth_of(const Expression& formula, const Names& names, int line) {
    const auto value = value_of(formula, names, line);
    if (!value) return std::nullopt;
    if (const bool* truth = std::get_if<bool>(&*value)) return *truth;
    fail(line, 1, fmt::format("'{}' is neither true nor false", formula.text()));
    return std::nullopt;
  }

  // False where a formula has no value.
  bool amounts(TimingRow& row, const Names& names) {
    const auto set = [&](double& to, const std::optional<Expression>& formula) {
      if (!formula) return true;
      const auto value = amount(*formula, names, row.line);
      to = value.value_or(0);
      return value.has_value();
    };
    if (!set(row.memory_bytes, formulas_.memory_bytes) || !set(row.flops, formulas_.flops) ||
        !set(row.port_bytes, formulas_.port_bytes))
      return false;
    row.working_set = row.memory_bytes;
    return set(row.working_set, formulas_.working_set);
  }

  // The collective operation of a row; false where it is not that of its kernel.
  bool operation(TimingKernel& kernel, const Names& names, int line) {
    if (!formulas_.operation) return true;
    const auto value = value_of(*formulas_.operation, names, line);
    if (!value) return false;
    std::string name = label_text(*value);
    if (kernel.read == 0) kernel.operation = name;
    if (kernel.operation == name) return true;
    fail(line, 1,
         fmt::format("is of operation '{}', but '{}' is of '{}' before", name, kernel.name,
                     kernel.operation),
         "split the table by it");
    return false;
  }

  void add(const detail::CsvRow& cells, std::map<std::string, TimingKernel>& kernels) {
    if (is_skipped(cells)) {
      ++skipped_;
      return;
    }
    if (!rules_.empty()) {
      auto texts = rules_.texts_of(cells.cells[name_].text, [&](std::string_view column) {
        return column_value(cells, column);
      });
      if (!texts) return;
      texts_ = *std::move(texts);
    }
    check_device(cells);
    TimingRow row;
    row.line = cells.line;
    Names names{{"l2", Magnitude{l2_bytes_}}};
    std::string name;
    std::string dtype;
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      const std::string text = cell_of(cells, config_.labels[i], labels_[i]).text;
      names[config_.labels[i]] = text;
      name += (name.empty() ? "" : " ") + text;
      if (config_.labels[i] == config_.dtype.column) dtype = text;
    }
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      const std::optional<double> size = size_of(cells, i);
      if (!size) return;
      row.sizes.push_back(*size);
      if (tells_shapes_apart(config_.sizes[i]))
        row.shape += fmt::format("{} {} ", config_.sizes[i], *size);
      if (std::ranges::find(config_.groups, config_.sizes[i]) != config_.groups.end())
        row.group += fmt::format("{} {} ", config_.sizes[i], *size);
      names[config_.sizes[i]] = Magnitude{*size};
    }
    if (formulas_.rows && !truth_of(*formulas_.rows, names, cells.line).value_or(false)) return;
    const auto time = number(cells, cells.cells[time_]);
    if (!time) return;
    row.seconds = *time * *seconds_in(kTimeUnitNames[static_cast<std::size_t>(config_.time.unit)]);
    for (const auto& [value, formula] : formulas_.values) {
      const auto result = value_of(formula, names, cells.line);
      if (!result) return;
      names[value] = *result;
    }
    if (!amounts(row, names)) return;
    for (const Expression& formula : formulas_.form_sizes) {
      const auto size = amount(formula, names, cells.line);
      if (!size) return;
      row.form_sizes.push_back(*size);
    }
    for (const Expression& formula : formulas_.split) {
      const auto part = value_of(formula, names, cells.line);
      if (!part) return;
      name += " " + label_text(*part);
    }
    TimingKernel& kernel = kernels[name];
    if (kernel.name.empty()) {
      kernel.name = name;
      const auto known = config_.dtype.names.find(dtype);
      kernel.dtype = known == config_.dtype.names.end() ? dtype : known->second;
    }
    if (!operation(kernel, names, cells.line)) return;
    ++kernel.read;
    names["time"] = Magnitude{row.seconds, "s"};
    if (!refused(row, names, kernel)) kernel.rows.push_back(std::move(row));
  }

  // True where a rule of the description refuses the row.
  bool refused(const TimingRow& row, const Names& names, TimingKernel& kernel) {
    for (std::size_t i = 0; i < formulas_.refuse.size(); ++i) {
      const auto truth = truth_of(formulas_.refuse[i], names, row.line);
      if (!truth) return true;
      if (!*truth) continue;
      const TableRefusal& rule = config_.refuse[i];
      RefusedRows& rows = kernel.refused[rule.rule];
      if (rows.count++ == 0)
        rows.first = {fmt::format("{}:{}:1", file_, row.line), kernel.name, rule.rule, rule.why};
      return true;
    }
    return false;
  }

  std::string file_;
  const TimingTableConfig& config_;
  Formulas formulas_;
  double l2_bytes_;
  Diagnostics& diagnostics_;
  detail::NamedRowRules rules_;
  detail::NamedRowRules::Texts texts_;  // of the row that is read
  std::vector<std::string> present_;    // columns of the file
  std::vector<std::size_t> labels_, sizes_;
  std::size_t time_ = 0;
  std::size_t name_ = 0;  // column with the name that rules look at
  std::string device_;    // of the first row, of a profile
  int skipped_ = 0;
};

// One row for all that have the same sizes: the median of their times, and their spread.
void merge_repeats(TimingKernel& kernel) {
  std::ranges::stable_sort(kernel.rows, {}, &TimingRow::sizes);
  std::vector<TimingRow> merged;
  for (std::size_t first = 0; first < kernel.rows.size();) {
    std::size_t last = first;
    std::vector<double> times;
    while (last < kernel.rows.size() && kernel.rows[last].sizes == kernel.rows[first].sizes)
      times.push_back(kernel.rows[last++].seconds);
    TimingRow row = std::move(kernel.rows[first]);
    row.seconds = median_of(times);
    row.repeats = static_cast<int>(times.size());
    const auto [low, high] = std::ranges::minmax(times);
    if (row.seconds > 0) row.spread = (high - low) / row.seconds;
    merged.push_back(std::move(row));
    first = last;
  }
  kernel.rows = std::move(merged);
}

}  // namespace

Expected<TimingTable, Diagnostics> read_timing_table(const std::string& file, std::string_view text,
                                                     const TimingTableConfig& config,
                                                     double l2_bytes) {
  Diagnostics diagnostics;
  TimingTable table = Reader(file, config, l2_bytes, diagnostics).read(text);
  if (diagnostics.ok() && table.kernels.empty()) {
    Diagnostic mistake;
    mistake.where.file = file;
    mistake.message = "no timing stands in this file";
    diagnostics.report(std::move(mistake));
  }
  if (!diagnostics.ok()) return Unexpected(std::move(diagnostics));
  for (TimingKernel& kernel : table.kernels) merge_repeats(kernel);
  return table;
}

NoiseFloor noise_floor(const TimingKernel& kernel) {
  std::vector<double> spreads;
  for (const TimingRow& row : kernel.rows)
    if (row.repeats > 1) spreads.push_back(row.spread);
  if (spreads.empty()) return {};
  return {.cases = static_cast<std::int64_t>(spreads.size()),
          .median = quantile_of(spreads, 0.5),
          .p90 = quantile_of(spreads, 0.9)};
}

}  // namespace tiersim
