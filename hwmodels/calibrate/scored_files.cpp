#include "hwmodels/calibrate/scored_files.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "hwmodels/calibrate/csv_table.hpp"
#include "hwmodels/calibrate/json_fields.hpp"
#include "hwmodels/calibrate/read_timings.hpp"
#include "hwmodels/calibrate/timing_text.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace {

using detail::CsvCell;
using detail::CsvRow;
using detail::CsvTable;

constexpr double kNano = 1e-9;
constexpr double kShortest = 1e-3;  // ns; shorter is a slip

bool is_json(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && text[first] == '{';
}

// The cells of one file by column, with what is wrong with each.
class TableReader {
 public:
  TableReader(const std::string& text, const std::string& file, Diagnostics& diagnostics)
      : table_(detail::read_csv_table(file, text, diagnostics)),
        file_(file),
        diagnostics_(diagnostics) {}

  const std::vector<CsvRow>& rows() const { return table_.rows; }

  std::string setting(const std::string& key) const {
    for (const detail::CsvSetting& setting : table_.settings)
      if (setting.key == key) return setting.value;
    return "";
  }

  bool has(std::string_view column) const {
    return std::ranges::find(table_.header.cells, column, &CsvCell::text) !=
           table_.header.cells.end();
  }

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

  /// An empty cell where there is no such column.
  CsvCell cell(const CsvRow& row, std::string_view column) const {
    for (std::size_t i = 0; i < row.cells.size(); ++i)
      if (table_.header.cells[i].text == column) return row.cells[i];
    return {};
  }

  /// Nothing where the cell is empty or is no number of at least `least`, which is reported.
  std::optional<double> number(const CsvRow& row, const char* column, double least) {
    const CsvCell from = cell(row, column);
    if (from.text.empty()) return std::nullopt;
    const auto value = parse_number(from.text);
    if (value && *value >= least) return value;
    report(row, from,
           fmt::format("{}: '{}' is no number of at least {}", column, from.text, least));
    return std::nullopt;
  }

  /// The same of a cell that must not be empty.
  std::optional<double> required(const CsvRow& row, const char* column, double least) {
    const CsvCell from = cell(row, column);
    if (from.text.empty() && has(column)) report(row, from, fmt::format("{}: is empty", column));
    return number(row, column, least);
  }

  std::optional<double> seconds(std::optional<double> ns) const {
    return ns ? std::optional(*ns * kNano) : std::nullopt;
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

// What is wrong with a case that is to be added; empty where nothing.
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

PredictedTimes predicted_of_json(const std::string& text, const std::string& file,
                                 Diagnostics& diagnostics) {
  PredictedTimes out{.file = file, .build_id = {}, .date = {}, .cases = {}};
  JsonNode root;
  if (!parse_json(file, text, root, diagnostics)) return out;
  JsonFields fields(&root, "", file, diagnostics);
  fields.choice("schema", {"tiersim.predictions/v1"});
  out.build_id = fields.text("build_id");
  if (fields.has("date")) out.date = fields.text("date");
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

// The other members are held to their schema by whoever wrote and checked the file.
MeasuredTimes measured_of_composition(JsonFields fields, const std::string& file) {
  MeasuredTimes out;
  out.file = file;
  out.level = "sequence";
  JsonFields context = fields.object("context");
  out.date = context.text("date");
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

// The least time by the data sheet: of the busiest of memory, link and arithmetic.
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
  table.expect({"name", "measured_ns"}, {"name", "measured_ns", "noise", "roofline_ns", "sum_ns"});
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
    const auto measured = table.seconds(table.required(row, "measured_ns", kShortest));
    made.noise = table.number(row, "noise", 0).value_or(0);
    made.roofline = table.seconds(table.number(row, "roofline_ns", kShortest));
    made.sum = table.seconds(table.number(row, "sum_ns", kShortest));
    if (name.text.empty()) table.report(row, name, "has no name");
    if (!names.insert(name.text).second) table.report(row, name, name.text + ": stands twice");
    if (!measured) continue;
    made.seconds = *measured;
    out.cases.push_back(std::move(made));
  }
  return out;
}

PredictedTimes predicted_of_csv(TableReader& table, const std::string& file) {
  const std::vector<std::string> columns{"name", "predicted_ns", "low_ns", "high_ns"};
  table.expect(columns, columns);
  PredictedTimes out{
      .file = file, .build_id = table.setting("build"), .date = table.setting("date"), .cases = {}};
  for (const CsvRow& row : table.rows()) {
    const auto value = table.required(row, "predicted_ns", 0);
    const auto low = table.required(row, "low_ns", 0);
    const auto high = table.required(row, "high_ns", 0);
    if (!value || !low || !high) continue;
    const CsvCell name = table.cell(row, "name");
    const Estimate time{*value * kNano, *low * kNano, *high * kNano};
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
    JsonNode root;
    if (!parse_json(file, text, root, diagnostics)) return {};
    const JsonNode* context = root.find("context");
    const JsonNode* stage = context == nullptr ? nullptr : context->find("stage");
    if (stage != nullptr && stage->text == "composition")
      return measured_of_composition(JsonFields(&root, "", file, diagnostics), file);
  } else {
    Diagnostics ignored;  // read again below
    if (TableReader(text, file, ignored).has("measured_ns")) {
      TableReader table(text, file, diagnostics);
      return measured_of_csv(table, file);
    }
  }
  const auto timings = read_timings(file, text, {});
  if (timings) return measured_of_timings(*timings);
  for (const Diagnostic& diagnostic : timings.error().list()) diagnostics.report(diagnostic);
  return {};
}

}  // namespace tiersim
