#include "reports/papers/reproduce/reading_table.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tiersim {
namespace {

std::string shown(double value, const std::string& unit) {
  return unit == "ratio" ? fmt::format("{:.2f} %", value * 100) : fmt::format("{:.6g}", value);
}

// One printed value in its readings.
struct Line {
  const TargetRow* row = nullptr;
  std::map<Reading, TargetResult> readings;
};

std::vector<Line> lines_of(const PaperReport& report) {
  std::vector<Line> out;
  for (const ReproducedRow& row : report.rows)
    for (const TargetResult& cell : row.cells) {
      const auto at = std::ranges::find_if(
          out, [&](const Line& line) { return line.readings.begin()->second.id == cell.id; });
      if (at == out.end())
        out.push_back({&row.target, {{row.target.reading, cell}}});
      else
        at->readings.emplace(row.target.reading, cell);
    }
  return out;
}

}  // namespace

Table reading_table(const PaperReport& report) {
  Table table{.title = "Printed, under the paper's assumptions, and from first principles",
              .columns = {{"model", Align::left},
                          {"method", Align::left},
                          {"quantity", Align::left},
                          {"paper"},
                          {"simulated"},
                          {"status", Align::left},
                          {"first principles"},
                          {"status there", Align::left},
                          {"unit", Align::left},
                          {"where", Align::left}}};
  std::vector<std::string> reasons;
  const auto mark = [&](const TargetResult& cell) {
    if (cell.why.empty()) return cell.status;
    auto at = std::ranges::find(reasons, cell.why);
    if (at == reasons.end()) at = reasons.insert(at, cell.why);
    return fmt::format("{} [{}]", cell.status, at - reasons.begin() + 1);
  };
  for (const Line& line : lines_of(report)) {
    const TargetResult& any = line.readings.begin()->second;
    std::vector<std::string> cells{line.row->label, line.row->method,
                                   any.id.substr(any.id.rfind('.') + 1),
                                   shown(any.paper, any.unit)};
    for (const Reading reading : {Reading::paper, Reading::first_principles}) {
      const auto at = line.readings.find(reading);
      cells.push_back(at == line.readings.end() ? "-" : shown(at->second.simulated, any.unit));
      cells.push_back(at == line.readings.end() ? "-" : mark(at->second));
    }
    cells.push_back(any.unit == "ratio" ? "" : any.unit);
    cells.push_back(line.row->where);
    table.add(std::move(cells));
  }
  for (std::size_t i = 0; i < reasons.size(); ++i)
    table.notes.push_back(fmt::format("[{}] {}", i + 1, reasons[i]));
  return table;
}

std::vector<TargetResult> all_results(const PaperReport& report) {
  std::vector<TargetResult> out;
  for (const ReproducedRow& row : report.rows)
    std::ranges::copy(row.cells, std::back_inserter(out));
  for (const ReproducedStudy& study : report.studies)
    std::ranges::copy(study.checks, std::back_inserter(out));
  for (const ReportSection& section : report.sections)
    std::ranges::copy(section.results, std::back_inserter(out));
  return out;
}

std::map<std::string, std::size_t> status_counts(const std::vector<TargetResult>& results) {
  std::map<std::string, std::size_t> out;
  for (const TargetResult& result : results) ++out[result.status];
  return out;
}

}  // namespace tiersim
