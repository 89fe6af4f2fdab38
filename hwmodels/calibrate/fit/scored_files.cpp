#include "hwmodels/calibrate/fit/scored_files.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "hwmodels/calibrate/read/csv_table.hpp"
#include "hwmodels/calibrate/read/iso_date.hpp"
#include "hwmodels/calibrate/read/json_fields.hpp"
#include "hwmodels/calibrate/read/read_timings.hpp"
#include "hwmodels/calibrate/read/timing_text.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace {

using detail::CsvCell;
using detail::CsvRow;
using detail::CsvTable;

constexpr double kNano = 1e-9;
constexpr double kShortest = 1e-3;  // ns; a shorter time is a slip of a unit
constexpr double kLongest = 1e6;    // s; a longer time is one too
constexpr std::array<std::string_view, 4> kUnits{"ns", "us", "ms", "s"};

bool is_json(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && text[first] == '{';
}

// The cells of one file by column; mistakes in them are reported.
class TableReader {
 public:
  TableReader(const std::string& text, const std::string& file, Diagnostics& diagnostics)
      : table_(detail::read_csv_table(file, text, diagnostics)),
        file_(file),
        diagnostics_(diagnostics) {
    std::set<std::string> seen;
    for (const auto& [line, key, value] : table_.settings) {
      const CsvRow at{line, {}};
      if (!seen.insert(key).second) report(at, {}, fmt::format("setting '{}' stands twice", key));
      if (key == "date" && !parse_iso_date(value))
        report(at, {}, fmt::format("'{}' is no date", value), std::string(kIsoDateForm));
    }
  }

  const std::vector<CsvRow>& rows() const { return table_.rows; }
  int header_line() const { return table_.header.line; }

  std::string setting(const std::string& key) const {
    for (const detail::CsvSetting& setting : table_.settings)
      if (setting.key == key) return setting.value;
    return "";
  }

  bool has(std::string_view column) const {
    return std::ranges::find(table_.header.cells, column, &CsvCell::text) !=
           table_.header.cells.end();
  }

  /// The column of this time with its unit: "measured_us"; the one in ns where there is none.
  std::string timed(std::string_view what) const {
    for (const std::string_view unit : kUnits)
      if (has(fmt::format("{}_{}", what, unit))) return fmt::format("{}_{}", what, unit);
    return fmt::format("{}_ns", what);
  }

  bool has_timed(std::string_view what) const { return has(timed(what)); }

  void expect(const std::vector<std::string>& wanted, const std::vector<std::string>& possible) {
    std::set<std::string> seen;
    for (const CsvCell& cell : table_.header.cells) {
      if (std::ranges::count(possible, cell.text) == 0) {
        const std::string_view near = nearest(cell.text, possible);
        report(
            table_.header, cell, fmt::format("there is no column '{}' in such a file", cell.text),
            near.empty() ? "one of: " + join(possible) : fmt::format("did you mean '{}'?", near));
      }
      if (!seen.insert(cell.text).second)
        report(table_.header, cell, fmt::format("column '{}' stands twice", cell.text));
    }
    for (const std::string& column : wanted)
      if (!has(column))
        report(table_.header, {}, fmt::format("there is no column '{}'", column),
               "the columns are: " + join(possible));
    if (table_.rows.empty()) report(table_.header, {}, "has no rows");
  }

  /// An empty cell where the table lacks the column.
  CsvCell cell(const CsvRow& row, std::string_view column) const {
    for (std::size_t i = 0; i < row.cells.size(); ++i)
      if (table_.header.cells[i].text == column) return row.cells[i];
    return {};
  }

  /// Empty where the cell is empty, or is no number of at least `least`, which is reported.
  std::optional<double> number(const CsvRow& row, const std::string& column, double least) {
    const CsvCell from = cell(row, column);
    if (from.text.empty()) return std::nullopt;
    const auto value = parse_number(from.text);
    if (value && *value >= least) return value;
    report(row, from,
           fmt::format("{}: '{}' is no number of at least {}", column, from.text, least));
    return std::nullopt;
  }

  /// Like number(), for a cell that must not be empty.
  std::optional<double> required(const CsvRow& row, const std::string& column, double least) {
    const CsvCell from = cell(row, column);
    if (from.text.empty() && has(column)) report(row, from, fmt::format("{}: is empty", column));
    return number(row, column, least);
  }

  /// The time in seconds; empty in the cases of number() or, with `must`, of required().
  std::optional<double> seconds(const CsvRow& row, std::string_view what, double least_ns,
                                bool must) {
    const std::string column = timed(what);
    const double unit = seconds_in(column.substr(what.size() + 1)).value_or(kNano);
    const double least = least_ns * (kNano / unit);
    const auto value = must ? required(row, column, least) : number(row, column, least);
    if (!value || *value * unit < kLongest) return value ? std::optional(*value * unit) : value;
    const CsvCell from = cell(row, column);
    report(row, from, fmt::format("{}: '{}' is not below {} s", column, from.text, kLongest));
    return std::nullopt;
  }

  void report(const CsvRow& row, const CsvCell& cell, std::string message, std::string hint = {}) {
    Diagnostic diagnostic;
    diagnostic.where = {file_, row.line, cell.column};
    diagnostic.message = std::move(message);
    diagnostic.hint = std::move(hint);
    diagnostics_.report(std::move(diagnostic));
  }

 private:
  CsvTable table_;
  const std::string& file_;
  Diagnostics& diagnostics_;
};

// Message about a case that is to be added; empty where it is valid.
std::string problem_of(const PredictedTimes& have, const std::string& name, const Estimate& time) {
  if (!(0 < time.low && time.low <= time.value && time.value <= time.high))
    return name + ": not 0 < low <= predicted <= high";
  if (std::ranges::find(have.cases, name, &PredictedTimes::Case::name) != have.cases.end())
    return name + ": stands twice";
  return "";
}

Estimate estimate_of(JsonFields& from) {
  Estimate out;
  out.value = from.number("median_ns", 0) * kNano;
  out.low = from.number("low_ns", 0) * kNano;
  out.high = from.number("high_ns", 0) * kNano;
  return out;
}

std::string date_of(JsonFields& fields) {
  std::string date = fields.text("date");
  if (fields.has("date") && !parse_iso_date(date))
    fields.fail("date", fmt::format("'{}' is no date", date), std::string(kIsoDateForm));
  return date;
}

PredictedTimes predicted_of_json(const std::string& text, const std::string& file,
                                 Diagnostics& diagnostics) {
  PredictedTimes out{.file = file, .build_id = {}, .date = {}, .cases = {}};
  JsonDocument json;
  if (!parse_json(file, text, json, diagnostics)) return out;
  JsonFields fields(json.root(), "", file, diagnostics);
  fields.choice("schema", {"tiersim.predictions/v1"});
  out.build_id = fields.text("build_id");
  if (fields.has("date")) out.date = date_of(fields);
  for (JsonFields& each : fields.list("predictions")) {
    const std::size_t before = diagnostics.list().size();
    const std::string name = each.text("name");
    const Estimate time = estimate_of(each);
    each.finish();
    if (diagnostics.list().size() != before) continue;
    const std::string problem = problem_of(out, name, time);
    if (problem.empty())
      out.cases.push_back({name, time});
    else
      each.fail("name", problem);
  }
  fields.finish();
  return out;
}

// Other members of a composition are not checked here; its writer has checked them by the schema.
MeasuredTimes measured_of_composition(JsonFields fields, const std::string& file) {
  MeasuredTimes out;
  out.file = file;
  out.level = "sequence";
  JsonFields context = fields.object("context");
  out.date = date_of(context);
  out.data_class = context.text("class");
  out.build_id = context.object("build").text("id");
  out.device = context.object("device").text("name");
  for (JsonFields& entry : fields.list("benchmarks")) {
    MeasuredTimes::Case made;
    made.name = entry.text("name");
    entry.choice("time_unit", {"ns"});
    made.seconds = entry.number("real_time", kShortest) * kNano;
    JsonFields total = entry.object("total");
    const Estimate interval = estimate_of(total);
    if (interval.value > 0) made.noise = (interval.high - interval.low) / 2 / interval.value;
    const double roofline = entry.number("roofline_ns", 0) * kNano;
    const double sum = entry.number("sum_of_medians_ns", 0) * kNano;
    if (roofline > 0) made.roofline = roofline;
    if (sum > 0) made.sum = sum;  // 0: not every kernel was timed alone
    if (entry.has("prediction")) {
      JsonFields prediction = entry.object("prediction");
      made.foretold = estimate_of(prediction);
    }
    if (std::ranges::find(out.cases, made.name, &MeasuredTimes::Case::name) != out.cases.end())
      entry.fail("name", made.name + ": stands twice");
    out.cases.push_back(std::move(made));
  }
  return out;
}

// Least time by the data sheet: that of the busiest of memory, link and arithmetic.
std::optional<double> floor_of(const TimingCase& timing, const TimingSet& set) {
  double floor = 0;
  const auto at_peak = [&](const std::string& peak, double amount) {
    for (const TimingPeak& each : set.peaks)
      if (each.hard && each.name == peak) floor = std::max(floor, amount / each.value);
  };
  if (timing.temperature == Temperature::cold) at_peak("memory", timing.work.memory_bytes);
  at_peak("link_read", timing.work.link_read_bytes);
  at_peak("link_write", timing.work.link_write_bytes);
  at_peak("flops." + timing.dtype, timing.work.flops);
  return floor > 0 ? std::optional(floor) : std::nullopt;
}

MeasuredTimes measured_of_timings(const TimingSet& set) {
  MeasuredTimes out{.file = set.file,
                    .level = "kernel",
                    .build_id = set.build_id,
                    .date = set.date,
                    .data_class = set.data_class,
                    .device = set.device,
                    .cases = {}};
  for (const TimingCase& timing : set.cases) {
    MeasuredTimes::Case made;
    made.name = timing.name + (timing.temperature == Temperature::warm ? "/warm" : "");
    made.seconds = timing.seconds;
    made.noise = timing.repeat_noise;
    made.roofline = floor_of(timing, set);
    out.cases.push_back(std::move(made));
  }
  return out;
}

MeasuredTimes measured_of_csv(TableReader& table, const std::string& file) {
  const std::string time = table.timed("measured");
  table.expect({"name", time},
               {"name", time, "noise", table.timed("roofline"), table.timed("sum")});
  MeasuredTimes out{.file = file,
                    .level = table.setting("level").empty() ? "kernel" : table.setting("level"),
                    .build_id = table.setting("build"),
                    .date = table.setting("date"),
                    .data_class = table.setting("class"),
                    .device = table.setting("device"),
                    .cases = {}};
  std::set<std::string> names;
  for (const CsvRow& row : table.rows()) {
    const CsvCell name = table.cell(row, "name");
    MeasuredTimes::Case made;
    made.name = name.text;
    const auto measured = table.seconds(row, "measured", kShortest, true);
    made.noise = table.number(row, "noise", 0).value_or(0);
    made.roofline = table.seconds(row, "roofline", kShortest, false);
    made.sum = table.seconds(row, "sum", kShortest, false);
    if (name.text.empty()) table.report(row, name, "has no name");
    if (!names.insert(name.text).second) table.report(row, name, name.text + ": stands twice");
    if (!measured) continue;
    made.seconds = *measured;
    out.cases.push_back(std::move(made));
  }
  return out;
}

PredictedTimes predicted_of_csv(TableReader& table, const std::string& file) {
  const std::vector<std::string> columns{"name", table.timed("predicted"), table.timed("low"),
                                         table.timed("high")};
  table.expect(columns, columns);
  PredictedTimes out{
      .file = file, .build_id = table.setting("build"), .date = table.setting("date"), .cases = {}};
  for (const CsvRow& row : table.rows()) {
    const auto value = table.seconds(row, "predicted", 0, true);
    const auto low = table.seconds(row, "low", 0, true);
    const auto high = table.seconds(row, "high", 0, true);
    if (!value || !low || !high) continue;
    const CsvCell name = table.cell(row, "name");
    const Estimate time{*value, *low, *high};
    const std::string problem = problem_of(out, name.text, time);
    if (problem.empty())
      out.cases.push_back({name.text, time});
    else
      table.report(row, name, problem);
  }
  return out;
}

}  // namespace

PredictedTimes read_predicted_times(const std::string& file, const std::string& text,
                                    Diagnostics& diagnostics) {
  if (is_json(text)) return predicted_of_json(text, file, diagnostics);
  TableReader table(text, file, diagnostics);
  return predicted_of_csv(table, file);
}

MeasuredTimes read_measured_times(const std::string& file, const std::string& text,
                                  Diagnostics& diagnostics) {
  if (is_json(text)) {
    JsonDocument json;
    if (!parse_json(file, text, json, diagnostics)) return {};
    const JsonNode context = json.root().find("context");
    const JsonNode stage = context ? context.find("stage") : JsonNode();
    if (stage && stage.text() == "composition")
      return measured_of_composition(JsonFields(json.root(), "", file, diagnostics), file);
  } else {
    Diagnostics ignored;  // the file is read again below
    const TableReader look(text, file, ignored);
    if (look.has_timed("measured")) {
      TableReader table(text, file, diagnostics);
      return measured_of_csv(table, file);
    }
    if (look.has("name") && !look.has("kernel")) {
      Diagnostic missing;
      missing.where = {file, look.header_line(), 1};
      missing.message = "no column has what was measured";
      missing.hint =
          "measured_ns, measured_us, measured_ms or measured_s; timings of kernels have 'kernel' "
          "and a time";
      diagnostics.report(std::move(missing));
      return {};
    }
  }
  const auto timings = read_timings(file, text, {});
  if (timings) return measured_of_timings(*timings);
  for (const Diagnostic& diagnostic : timings.error().list()) diagnostics.report(diagnostic);
  return {};
}

}  // namespace tiersim
