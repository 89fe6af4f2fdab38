#include "reports/papers/reproduce/reproduce_page.hpp"

#include <algorithm>
#include <initializer_list>
#include <set>

#include <fmt/format.h>

#include "reports/html/page.hpp"
#include "reports/papers/reproduce/latex_folder.hpp"
#include "reports/papers/reproduce/reading_table.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace {

// Rows of a long table on the page; the .csv beside the page has all.
constexpr std::size_t kPageRowsMax = 60;

std::string_view mark_of(std::string_view text) {
  const std::string_view status = text.substr(0, text.find(' '));
  if (status == "fail") return "bad";
  if (status == "rule" || status == "unexplained") return "warn";
  if (status == "explained" || status == "input" || status == "consistency") return "quiet";
  const bool good = status == "pass" || status == "shape" || status == "prediction";
  return good ? std::string_view("good") : std::string_view();
}

// Adds a table and highlights its columns of statuses.
void add_table(Page& page, const Table& table, std::size_t shown_max = 0) {
  if (table.rows.empty()) return;
  std::set<std::size_t> columns;
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    if (table.columns[c].title.starts_with("status")) columns.insert(c);
  TableLook look{.shown_max = shown_max};
  if (!columns.empty())
    look.mark = [&table, columns](std::size_t row, std::size_t column) {
      return columns.contains(column) ? mark_of(table.rows[row][column].shown())
                                      : std::string_view();
    };
  page.table(table, look);
}

// add_table(), folded.
void add_folded(Page& page, const Table& table) {
  if (table.rows.empty()) return;
  page.begin_details(table.title);
  add_table(page, table, kPageRowsMax);
  page.end_details();
}

void add_overview(Page& page, const std::vector<PaperPage>& papers,
                  const std::vector<std::string>& ids) {
  page.section("Results: met, explained and open");
  Table table{.title = "Results by status", .columns = {{"status", Align::left}}};
  std::vector<std::string> used;
  for (const StatusMeaning& one : kStatuses)
    for (const PaperPage& paper : papers)
      if (status_counts(all_results(paper.report)).contains(one.status)) {
        used.emplace_back(one.status);
        break;
      }
  // A column for each paper, so that any number of statuses fits.
  std::vector<std::string> held{"all targets"};
  for (const PaperPage& paper : papers) {
    table.columns.push_back({paper.report.name});
    held.emplace_back(paper.report.all_hold() ? "met" : "missed");
  }
  table.columns.push_back({"meaning", Align::left});
  held.emplace_back("met where the simulation meets every target, missed where it misses one");
  table.add(std::move(held));
  for (const StatusMeaning& one : kStatuses) {
    if (std::ranges::find(used, one.status) == used.end()) continue;
    std::vector<std::string> row{std::string(one.status)};
    for (const PaperPage& paper : papers) {
      const auto counts = status_counts(all_results(paper.report));
      const auto at = counts.find(std::string(one.status));
      row.push_back(at == counts.end() ? "0" : fmt::format("{}", at->second));
    }
    row.emplace_back(one.meaning);
    table.add(std::move(row));
  }
  TableLook look{};
  look.link = [&ids](std::size_t row, std::size_t column) {
    return row == 0 && 0 < column && column <= ids.size() ? ids[column - 1] : std::string();
  };
  page.table(table, look);
}

// Links to the files of a figure.
std::vector<std::pair<std::string, std::string>> files_of(const std::string& folder,
                                                          const std::string& stem,
                                                          std::initializer_list<const char*> ends) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const char* end : ends) {
    const std::string name = fmt::format("{}.{}", stem, end);
    out.emplace_back(out.empty() ? name : end, fmt::format("{}/{}", folder, name));
  }
  return out;
}

void add_figures(Page& page, const PaperPage& paper, const std::string& folder) {
  if (paper.figures.empty()) return;
  page.section("Figures", 3);
  for (const DrawnFigure& drawn : paper.figures) {
    const Figure& figure = drawn.figure;
    const std::string caption = (figure.where.empty() ? "" : figure.where + ". ") + figure.caption;
    if (drawn.svg.empty()) {
      Html text = html_prose(fmt::format("{} ({}.)", caption, drawn.problem));
      for (const auto& [name, path] : files_of(folder, figure.stem, {"dat", "gp"}))
        text = text + Html{" "} + html_file_link(name, path);
      page.text(text);
    } else {
      page.figure({.svg = drawn.svg,
                   .caption = caption,
                   .alt = caption,
                   .id = figure.stem,
                   .files = files_of(folder, figure.stem, {"pdf", "svg", "dat", "gp"})});
    }
  }
}

// Figures drawn by sections, with all machines and ways.
void add_section_figures(Page& page, const PaperReport& report, const std::string& folder) {
  const bool any = std::ranges::any_of(
      report.sections, [](const ReportSection& section) { return !section.figures.empty(); });
  if (!any) return;
  page.section("Figures of every machine and variant", 3);
  for (const ReportSection& section : report.sections)
    for (const ReportFile& figure : section.figures)
      page.figure({.svg = figure.text,
                   .caption = section.id + ".",
                   .files = files_of(folder, section_figure_stem(report, figure), {"svg"})});
}

void add_tables(Page& page, const PaperReport& report) {
  for (const ReportSection& section : report.sections)
    for (const auto& [table, digest] : section.tables) {
      if (!is_for(table.readers, TableForm::people)) continue;
      if (digest)
        add_table(page, table, kPageRowsMax);
      else
        add_folded(page, table);
    }
}

void add_beyond(Page& page, const PaperReport& report) {
  if (report.solves.empty() && report.studies.empty()) return;
  page.section("Studies and questions", 3);
  add_table(page, digest_table(report));
  for (const SolveResult& solve : report.solves) add_folded(page, table_of(solve));
  for (const ReproducedStudy& study : report.studies) {
    page.begin_details(heading(study.result.study));
    if (!study.result.study.pivot.empty())
      for (const Table& table : tables_of(study.result, Shown::summary)) add_table(page, table);
    for (const Table& table : tables_of(study.result, Shown::all))
      add_table(page, table, kPageRowsMax);
    page.end_details();
  }
}

void add_paper(Page& page, const PaperPage& paper, const std::string& id,
               const std::string& folder) {
  const PaperReport& report = paper.report;
  page.section(report.paper, 2, id);
  if (const Table table = reading_table(report); !table.rows.empty()) {
    page.section("Printed and simulated", 3);
    add_table(page, table);
  }
  add_figures(page, paper, folder);
  page.section("Checks and results", 3);
  add_table(page, shape_table(report));
  if (!report.sections.empty()) add_table(page, section_results(report));
  add_tables(page, report);
  add_table(page, step_table(report));
  add_beyond(page, report);
  add_section_figures(page, report, folder);
}

struct Origin {
  std::string what;
  const RunRecord* record = nullptr;
};

std::vector<Origin> origins_of(const PaperReport& report) {
  std::vector<Origin> out;
  for (const ReproducedStep& step : report.steps)
    if (step.problem.empty())
      out.push_back({step.target.label + ", " + step.target.method, &step.record});
  for (const ReproducedStudy& study : report.studies)
    for (const StudyRow& row : study.result.rows)
      if (row.record)
        out.push_back(
            {study.result.study.id + ": " + join(row.point.labels, ", "), row.record.get()});
  return out;
}

// The weakest class of a record's metrics.
std::string class_of(const RunRecord& record) {
  NumberClass found = NumberClass::measured;
  for (const auto& [metric, value] : record.metrics) found = weakest(found, value.number_class);
  return std::string(name(found));
}

void add_provenance(Page& page, const std::vector<PaperPage>& papers,
                    const std::vector<std::string>& settings) {
  page.section("Provenance");
  std::string version = "unknown";
  Table runs{.title = "Runs: decode steps and points of studies",
             .columns = {{"paper", Align::left},
                         {"run", Align::left},
                         {"class", Align::left},
                         {"run id", Align::left}}};
  for (const PaperPage& paper : papers)
    for (const Origin& origin : origins_of(paper.report)) {
      version = origin.record->tiersim_version;
      runs.add({paper.report.name, origin.what, class_of(*origin.record), origin.record->run_id});
    }
  page.facts({{"tiersim", version},
              {"settings under every scenario", settings.empty() ? "none" : join(settings)},
              {"runs", fmt::format("{} of decode steps and studies below; those of curves, grids "
                                   "and maps are in report.json",
                                   runs.rows.size())},
              {"classes",
               "measured, fitted, specification, announced, assumed: a time has the weakest class "
               "among the numbers that it depends on; bytes are counted from published "
               "dimensions"}});
  page.text(
      "A point runs again with the scenario and settings of its target in reports/targets; the "
      "run id is the SHA-256 of the effective configuration.");
  page.begin_details(runs.title);
  page.table(runs);
  page.end_details();
  page.footer("tiersim " + version);
}

}  // namespace

std::string reproduce_page(const std::vector<PaperPage>& papers,
                           const std::vector<std::string>& settings,
                           const std::string& figures_folder) {
  Page page(papers.size() == 1 ? "Reproduction: " + papers.front().report.name
                               : "Papers beside their simulation",
            "Printed values beside simulations under the paper's assumptions and from first "
            "principles");
  std::vector<std::string> ids;
  for (const PaperPage& paper : papers) ids.push_back("paper-" + paper.report.name);
  add_overview(page, papers, ids);
  for (std::size_t i = 0; i < papers.size(); ++i)
    add_paper(page, papers[i], ids[i], figures_folder);
  add_provenance(page, papers, settings);
  return page.html();
}

}  // namespace tiersim
