#include "reports/papers/reproduce/paper_report.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

namespace tiersim {
namespace {

// "512", "132.5", "6.25 %", in the format of the tables.
std::string shown(double value, std::string_view unit) {
  if (unit == "ratio") return fmt::format("{:.2f} %", value * 100);
  std::string text = fmt::format("{:.2f}", value);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string difference(const TargetResult& r) {
  const double delta = r.simulated - r.paper;
  if (std::abs(delta) <= r.tolerance) return "0";
  return r.unit == "ratio" ? fmt::format("{:+.2f} pp", delta * 100)
                           : fmt::format("{:+.4g} ({:+.1f} %)", delta, 100 * delta / r.paper);
}

// Numbered notes below the table that explain each contradiction once.
class Notes {
 public:
  std::string mark(const TargetResult& r) {
    if (r.why.empty()) return r.status;
    const auto [it, added] = numbers_.emplace(r.why, numbers_.size() + 1);
    if (added) texts_.push_back(fmt::format("[{}] {}", it->second, r.why));
    return fmt::format("{} [{}]", r.status, it->second);
  }
  // The notes below a line that says what they are about; nothing where there is no note.
  std::vector<std::string> under(const std::string& title) const {
    if (texts_.empty()) return {};
    std::vector<std::string> out{title};
    out.insert(out.end(), texts_.begin(), texts_.end());
    return out;
  }

 private:
  std::map<std::string, std::size_t> numbers_;
  std::vector<std::string> texts_;
};

}  // namespace

Table comparison_table(const PaperReport& report, Reading reading) {
  const bool printed = reading == Reading::paper;
  Table table{.title = printed ? "As printed: the paper's assumptions"
                               : "First principles: published model dimensions",
              .columns = {{"model", Align::left},
                          {"method", Align::left},
                          {"quantity", Align::left},
                          {"paper"},
                          {"simulated"},
                          {"unit", Align::left},
                          {"difference"},
                          {"status", Align::left}}};
  Notes notes;
  for (const ReproducedRow& row : report.rows) {
    if (row.target.reading != reading) continue;
    for (const TargetResult& cell : row.cells) {
      const std::string unit = cell.unit == "ratio" ? "" : cell.unit;
      table.add({row.target.label, row.target.method, cell.id.substr(cell.id.rfind('.') + 1),
                 shown(cell.paper, cell.unit), shown(cell.simulated, cell.unit), unit,
                 difference(cell), notes.mark(cell)});
    }
  }
  table.notes = notes.under(
      fmt::format("Notes on the comparison {}; 'rule' marks a printed value that contradicts the "
                  "paper's own numbers:",
                  printed ? "under the paper's assumptions" : "from first principles"));
  return table;
}

namespace {

std::string seconds(double s) {
  if (s >= 1) return fmt::format("{:.3f} s", s);
  return s >= 1e-3 ? fmt::format("{:.3f} ms", s * 1e3) : fmt::format("{:.3f} us", s * 1e6);
}

std::string gibibytes(std::int64_t bytes) {
  return fmt::format("{:.2f}", static_cast<double>(bytes) / 1073741824.0);
}

// Traffic of one device. Tables show two devices of the default path; the record has all.
std::string moved(const RunRecord& record, const char* device) {
  const auto it = record.traffic_bytes.find(device);
  if (it == record.traffic_bytes.end()) return "-";
  return fmt::format("{} / {}", gibibytes(it->second.read), gibibytes(it->second.write));
}

std::string bounded_by(const RunRecord& record) {
  const double step = record.metrics.at("bound_s").value;
  std::string out;
  for (std::size_t i = 0; i < record.bound_shares.size() && i < 2; ++i) {
    const auto& [name, time] = record.bound_shares[i];
    out += fmt::format("{}{} {:.0f} %", i == 0 ? "" : ", ", name, 100 * time / step);
  }
  return out;
}

// "3.9 s", or "3.9 s [3.8 s, 4.1 s]" with an interval.
std::string step_text(const Metric& step) {
  if (!step.ci95) return seconds(step.value);
  return fmt::format("{} [{}, {}]", seconds(step.value), seconds(step.ci95->low),
                     seconds(step.ci95->high));
}

// "attention transferred (h200/2026-11-21-a1: dense_decode)": kernel families with a fit, over all
// steps.
std::vector<std::string> fitted_families(const std::vector<ReproducedStep>& steps) {
  std::vector<std::string> out;
  for (const ReproducedStep& step : steps)
    for (const KernelTimeRecord& kernel : step.record.kernel_times) {
      if (kernel.basis == "specification") continue;
      std::string text =
          fmt::format("kernel times: {} {} ({})", kernel.family, kernel.basis, kernel.source);
      if (std::ranges::find(out, text) == out.end()) out.push_back(std::move(text));
    }
  if (!out.empty()) out.emplace_back("kernel times of the other families: specification");
  return out;
}

}  // namespace

Table step_table(const PaperReport& report) {
  Table table{.title = "Decode step on the default system (bytes: GiB read / written)",
              .columns = {{"model", Align::left},
                          {"method", Align::left},
                          {"step"},
                          {"bound"},
                          {"tokens/s"},
                          {"HBM"},
                          {"PCIe"},
                          {"pool"},
                          {"bounded by (share of the critical path)", Align::left},
                          {"class", Align::left}}};
  for (const auto& [target, record, problem] : report.steps) {
    if (!problem.empty()) {
      table.add(
          {target.label, target.method, "does not fit", "-", "-", "-", "-", "-", "capacity", "-"});
      table.notes.push_back(target.label + ' ' + target.method + ": " + problem);
      continue;
    }
    const Metric& step = record.metrics.at("step_time_s");
    table.add({target.label, target.method, step_text(step),
               seconds(record.metrics.at("bound_s").value),
               fmt::format("{:.2f}", record.metrics.at("throughput_tokens_per_s").value),
               moved(record, "hbm"), moved(record, "pcie"), moved(record, "pool"),
               bounded_by(record), std::string(name(step.number_class))});
  }
  std::ranges::move(fitted_families(report.steps), std::back_inserter(table.notes));
  return table;
}

Table shape_table(const PaperReport& report) {
  Table table{.title = "Checks of the paper's figures",
              .columns = {{"check", Align::left},
                          {"expected"},
                          {"simulated"},
                          {"tolerance"},
                          {"unit", Align::left},
                          {"status", Align::left}}};
  Notes notes;
  for (const ReproducedStudy& study : report.studies)
    for (const TargetResult& check : study.checks)
      table.add({check.id, fmt::format("{:.4g}", check.paper),
                 fmt::format("{:.4g}", check.simulated), fmt::format("{:.3g}", check.tolerance),
                 check.unit, notes.mark(check)});
  table.notes = notes.under("Statements that the checks test; 'shape' marks one that holds:");
  return table;
}

Table section_results(const PaperReport& report) {
  Table table{.title = "Results: met, explained and open",
              .columns = {{"result", Align::left},
                          {"paper"},
                          {"simulated"},
                          {"tolerance"},
                          {"unit", Align::left},
                          {"status", Align::left}}};
  Notes notes;
  for (const ReportSection& section : report.sections)
    for (const TargetResult& r : section.results)
      table.add({r.id, fmt::format("{:.4g}", r.paper),
                 std::isnan(r.simulated) ? "-" : fmt::format("{:.4g}", r.simulated),
                 fmt::format("{:.3g}", r.tolerance), r.unit, notes.mark(r)});
  table.notes = notes.under("Notes on the results:");
  return table;
}

Table digest_table(const PaperReport& report) {
  if (!report.digest) return {};
  std::vector<const StudyResult*> studies;
  for (const ReproducedStudy& study : report.studies) studies.push_back(&study.result);
  return digest_table(*report.digest, studies, report.solves);
}

bool PaperReport::all_hold() const {
  return std::ranges::all_of(
             rows,
             [](const ReproducedRow& row) { return std::ranges::all_of(row.cells, holds); }) &&
         std::ranges::all_of(studies,
                             [](const ReproducedStudy& study) {
                               return std::ranges::all_of(study.checks, holds);
                             }) &&
         std::ranges::all_of(sections, [](const ReportSection& section) {
           return std::ranges::all_of(section.results, holds);
         });
}

}  // namespace tiersim
