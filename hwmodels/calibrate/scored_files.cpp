#include "hwmodels/calibrate/scored_files.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/text.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::json;
constexpr double kNano = 1e-9;

bool is_json(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && text[first] == '{';
}

// A CSV with comments `# key: value` first and a line of column names; cells hold no commas.
struct CsvTable {
  struct Row {
    int line = 0;
    std::vector<std::string> cells;
  };
  std::map<std::string, std::string> meta;
  std::vector<std::string> columns;
  std::vector<Row> rows;
};

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == ',')
      cells.emplace_back();
    else
      cells.back() += c;
  }
  for (std::string& cell : cells) cell = trimmed(cell);
  return cells;
}

CsvTable read_table(const std::string& text) {
  CsvTable table;
  std::istringstream in(text);
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (trimmed(line).empty()) continue;
    if (line.front() == '#') {
      const std::size_t colon = line.find(':');
      if (colon != std::string::npos)
        table.meta[trimmed(line.substr(1, colon - 1))] = trimmed(line.substr(colon + 1));
    } else if (table.columns.empty()) {
      table.columns = cells_of(line);
    } else {
      table.rows.push_back({number, cells_of(line)});
    }
  }
  return table;
}

// Reads the cells of one file and reports what is wrong with each.
class TableReader {
 public:
  TableReader(const std::string& text, const std::string& file, Diagnostics& diagnostics)
      : table_(read_table(text)), file_(file), diagnostics_(diagnostics) {}

  const std::vector<CsvTable::Row>& rows() const { return table_.rows; }

  std::string meta(const std::string& key) const {
    const auto at = table_.meta.find(key);
    return at == table_.meta.end() ? "" : at->second;
  }

  void expect(const std::vector<std::string>& wanted, const std::vector<std::string>& possible) {
    for (const std::string& column : wanted)
      if (std::ranges::count(table_.columns, column) != 1)
        report(1, fmt::format("there is no column '{}'", column),
               "the first line that is no comment names the columns: " + join(possible));
    for (const std::string& column : table_.columns) {
      if (std::ranges::count(possible, column) != 0) continue;
      const std::string_view near = nearest(column, possible);
      report(1, fmt::format("there is no column '{}' in such a file", column),
             near.empty() ? "one of: " + join(possible) : fmt::format("did you mean '{}'?", near));
    }
    if (table_.rows.empty()) report(1, "has no rows", "");
    for (const CsvTable::Row& row : table_.rows)
      if (row.cells.size() != table_.columns.size())
        report(row.line,
               fmt::format("has {} cells for {} columns", row.cells.size(), table_.columns.size()),
               "");
  }

  std::string text(const CsvTable::Row& row, const std::string& column) const {
    const auto at = std::ranges::find(table_.columns, column);
    const auto index = static_cast<std::size_t>(at - table_.columns.begin());
    return index < row.cells.size() ? row.cells[index] : "";
  }

  /// Nothing where the cell or column is missing; what is no number above `least` is reported.
  std::optional<double> number(const CsvTable::Row& row, const std::string& column,
                               double least = 0) {
    const std::string cell = text(row, column);
    if (cell.empty()) return std::nullopt;
    double value = 0;
    const char* end = cell.data() + cell.size();
    const auto [stop, error] = std::from_chars(cell.data(), end, value);
    if (error == std::errc{} && stop == end && std::isfinite(value) && value >= least) return value;
    report(row.line, fmt::format("{}: '{}' is no number of at least {}", column, cell, least), "");
    return std::nullopt;
  }

  void report(int line, std::string message, std::string hint) {
    diagnostics_.report(
        {.where = {file_, line, 1}, .message = std::move(message), .hint = std::move(hint)});
  }

 private:
  CsvTable table_;
  const std::string& file_;
  Diagnostics& diagnostics_;
};

std::optional<Json> parsed(const std::string& text, const std::string& file,
                           Diagnostics& diagnostics) {
  Json document = Json::parse(text, nullptr, false);
  if (!document.is_discarded()) return document;
  diagnostics.report({.where = {file, 1, 1}, .message = "is no JSON", .hint = {}});
  return std::nullopt;
}

// The text at a path of keys; empty where there is none.
std::string text_at(const Json& document, std::initializer_list<const char*> path) {
  const Json* at = &document;
  for (const char* key : path) {
    if (!at->is_object() || !at->contains(key)) return "";
    at = &at->at(key);
  }
  return at->is_string() ? at->get<std::string>() : "";
}

std::optional<double> number_at(const Json& object, const char* key) {
  if (!object.is_object() || !object.contains(key) || !object.at(key).is_number())
    return std::nullopt;
  return object.at(key).get<double>();
}

std::optional<Estimate> estimate_of(const Json& each) {
  const auto value = number_at(each, "median_ns");
  const auto low = number_at(each, "low_ns");
  const auto high = number_at(each, "high_ns");
  if (!value || !low || !high) return std::nullopt;
  return Estimate{*value * kNano, *low * kNano, *high * kNano};
}

bool is_ordered(const Estimate& time) {
  return 0 < time.low && time.low <= time.value && time.value <= time.high;
}

void add_predicted(PredictedTimes& out, const std::string& name, const Estimate& time, int line,
                   Diagnostics& diagnostics) {
  const auto report = [&](std::string message) {
    diagnostics.report({.where = {out.file, line, 1}, .message = name + ": " + std::move(message)});
  };
  if (!is_ordered(time)) return report("not 0 < low <= predicted <= high");
  if (std::ranges::find(out.cases, name, &PredictedTimes::Case::name) != out.cases.end())
    return report("stands twice");
  out.cases.push_back({name, time});
}

PredictedTimes predicted_of_json(const Json& document, const std::string& file,
                                 Diagnostics& diagnostics) {
  PredictedTimes out{.file = file,
                     .build_id = text_at(document, {"build_id"}),
                     .date = text_at(document, {"date"}),
                     .cases = {}};
  const auto report = [&](std::string message) {
    diagnostics.report({.where = {file, 1, 1}, .message = std::move(message)});
  };
  if (text_at(document, {"schema"}) != "tiersim.predictions/v1")
    report("its schema is not tiersim.predictions/v1");
  if (!document.contains("predictions") || !document.at("predictions").is_array()) {
    report("has no list of predictions");
    return out;
  }
  std::size_t index = 0;
  for (const Json& each : document.at("predictions")) {
    const std::string name = text_at(each, {"name"});
    const auto time = estimate_of(each);
    if (name.empty() || !time)
      report(fmt::format("predictions[{}] lacks name, median_ns, low_ns or high_ns", index));
    else
      add_predicted(out, name, *time, 1, diagnostics);
    ++index;
  }
  return out;
}

// The values of one case over its processes.
struct Repeats {
  std::vector<double> ns;
  MeasuredTimes::Case last;
};

MeasuredTimes::Case case_of(Repeats repeats) {
  std::ranges::sort(repeats.ns);
  const std::size_t half = repeats.ns.size() / 2;
  const double median =
      repeats.ns.size() % 2 == 1 ? repeats.ns[half] : (repeats.ns[half - 1] + repeats.ns[half]) / 2;
  MeasuredTimes::Case out = std::move(repeats.last);
  out.seconds = median * kNano;
  if (repeats.ns.size() > 1) out.noise = (repeats.ns.back() - repeats.ns.front()) / 2 / median;
  return out;
}

// What a campaign says of one run of a case beside its time.
MeasuredTimes::Case one_run(const Json& entry, std::string name) {
  MeasuredTimes::Case out{.name = std::move(name)};
  if (const auto floor = number_at(entry, "roofline_ns"); floor && *floor > 0)
    out.roofline = *floor * kNano;
  if (const auto sum = number_at(entry, "sum_of_medians_ns"); sum && *sum > 0)
    out.sum = *sum * kNano;
  if (entry.contains("prediction")) out.foretold = estimate_of(entry.at("prediction"));
  if (entry.contains("total")) {
    if (const auto total = estimate_of(entry.at("total")))
      out.noise = (total->high - total->low) / 2 / total->value;
  }
  return out;
}

MeasuredTimes measured_of_json(const Json& document, const std::string& file,
                               Diagnostics& diagnostics) {
  MeasuredTimes out{
      .file = file,
      .level = text_at(document, {"context", "stage"}) == "composition" ? "sequence" : "kernel",
      .build_id = text_at(document, {"context", "build", "id"}),
      .date = text_at(document, {"context", "date"}),
      .data_class = text_at(document, {"context", "class"}),
      .device = text_at(document, {"context", "device", "name"}),
      .cases = {}};
  const auto report = [&](std::string message) {
    diagnostics.report({.where = {file, 1, 1}, .message = std::move(message)});
  };
  if (!document.contains("benchmarks") || !document.at("benchmarks").is_array()) {
    report("has no list of benchmarks");
    return out;
  }
  std::map<std::string, Repeats> all;
  std::vector<std::string> order;
  std::size_t index = 0;
  for (const Json& entry : document.at("benchmarks")) {
    const std::string at = fmt::format("benchmarks[{}]", index++);
    std::string name = text_at(entry, {"case"});
    if (text_at(entry, {"temperature"}) == "warm") name += "/warm";
    if (name.empty()) name = text_at(entry, {"name"});
    const auto time = number_at(entry, "real_time");
    if (name.empty() || !time || *time <= 0) {
      report(at + " lacks a name or a real_time above 0");
    } else if (text_at(entry, {"time_unit"}) != "ns") {
      report(at + fmt::format(": time_unit is '{}', not ns", text_at(entry, {"time_unit"})));
    } else {
      Repeats& repeats = all[name];
      if (repeats.ns.empty()) order.push_back(name);
      repeats.ns.push_back(*time);
      repeats.last = one_run(entry, name);
    }
  }
  for (const std::string& name : order) out.cases.push_back(case_of(std::move(all[name])));
  return out;
}

MeasuredTimes measured_of_csv(const std::string& text, const std::string& file,
                              Diagnostics& diagnostics) {
  TableReader table(text, file, diagnostics);
  table.expect({"name", "measured_ns"}, {"name", "measured_ns", "noise", "roofline_ns", "sum_ns"});
  MeasuredTimes out{.file = file,
                    .level = table.meta("level").empty() ? "kernel" : table.meta("level"),
                    .build_id = table.meta("build_id"),
                    .date = table.meta("date"),
                    .data_class = table.meta("class"),
                    .device = table.meta("device"),
                    .cases = {}};
  std::set<std::string> names;
  for (const CsvTable::Row& row : table.rows()) {
    MeasuredTimes::Case made{.name = table.text(row, "name")};
    const auto seconds = [&](const char* column) {
      const auto ns = table.number(row, column, 1e-3);  // shorter than a picosecond is a slip
      return ns ? std::optional(*ns * kNano) : std::nullopt;
    };
    const auto measured = seconds("measured_ns");
    made.noise = table.number(row, "noise").value_or(0);
    made.roofline = seconds("roofline_ns");
    made.sum = seconds("sum_ns");
    if (!names.insert(made.name).second) table.report(row.line, made.name + ": stands twice", "");
    if (made.name.empty() || !measured) {
      table.report(row.line, "lacks a name or a time", "");
      continue;
    }
    made.seconds = *measured;
    out.cases.push_back(std::move(made));
  }
  return out;
}

}  // namespace

PredictedTimes read_predicted_times(const std::string& text, const std::string& file,
                                    Diagnostics& diagnostics) {
  if (is_json(text)) {
    const auto document = parsed(text, file, diagnostics);
    return document ? predicted_of_json(*document, file, diagnostics) : PredictedTimes{};
  }
  TableReader table(text, file, diagnostics);
  const std::vector<std::string> columns{"name", "predicted_ns", "low_ns", "high_ns"};
  table.expect(columns, columns);
  PredictedTimes out{
      .file = file, .build_id = table.meta("build_id"), .date = table.meta("date"), .cases = {}};
  for (const CsvTable::Row& row : table.rows()) {
    const auto value = table.number(row, "predicted_ns");
    const auto low = table.number(row, "low_ns");
    const auto high = table.number(row, "high_ns");
    if (value && low && high)
      add_predicted(out, table.text(row, "name"), {*value * kNano, *low * kNano, *high * kNano},
                    row.line, diagnostics);
    else
      table.report(row.line, "lacks a number", "");
  }
  return out;
}

MeasuredTimes read_measured_times(const std::string& text, const std::string& file,
                                  Diagnostics& diagnostics) {
  if (!is_json(text)) return measured_of_csv(text, file, diagnostics);
  const auto document = parsed(text, file, diagnostics);
  return document ? measured_of_json(*document, file, diagnostics) : MeasuredTimes{};
}

}  // namespace tiersim
