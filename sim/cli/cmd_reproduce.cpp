// tiersim reproduce [PAPER]: runs the shipped scenarios of a paper and prints its table, in each
// reading, beside what is simulated. Exit 5 when a target is missed.
#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "reports/reproduce/paper_report.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/command.hpp"
#include "sim/cli/loading.hpp"
#include "sim/run/simulate.hpp"
#include "sim/run/trace.hpp"

namespace tiersim::cli {
namespace fs = std::filesystem;
namespace {

struct Options {
  std::string paper = "all";
  std::string folder = "out/reproduce";
  std::string trace;
  bool json = false;
  bool no_files = false;
};

Targets load_targets(const fs::path& path) {
  Diagnostics diagnostics;
  const Document document = load_document(path, standard_options(), diagnostics);
  auto targets = read<Targets>(document, "targets", diagnostics);
  throw_if_any(diagnostics);
  return targets;
}

std::vector<ReproducedRow> reproduce_rows(const Targets& targets) {
  std::vector<RunRecord> records;
  for (const TargetRow& row : targets.rows) {
    const ScenarioFile file = load_scenario(config_root() / row.scenario, row.set);
    auto result = simulate(file.config, Readings::accounting);
    if (!result) throw Failure(ExitCode::bad_config, row.scenario + ": error: " + result.error());
    records.push_back((*std::move(result)).record);
  }
  const auto baseline_of = [&](const TargetRow& row) {
    for (std::size_t i = 0; i < targets.rows.size(); ++i)
      if (targets.rows[i].id == row.baseline && targets.rows[i].reading == row.reading) return i;
    throw Failure(
        ExitCode::bad_config,
        fmt::format("tiersim: error: targets row '{}' has no baseline '{}' in its reading", row.id,
                    row.baseline));
  };
  std::vector<ReproducedRow> out;
  for (std::size_t i = 0; i < targets.rows.size(); ++i) {
    const TargetRow& row = targets.rows[i];
    const RunRecord& baseline = row.baseline.empty() ? records[i] : records[baseline_of(row)];
    out.push_back({row, compare(row, records[i], baseline)});
  }
  return out;
}

std::vector<ReproducedStep> reproduce_steps(const Targets& targets,
                                            std::vector<Simulation>& simulations) {
  std::vector<ReproducedStep> out;
  for (const TargetStep& step : targets.steps) {
    const ScenarioFile file = load_scenario(config_root() / step.scenario, step.set);
    auto result = simulate(file.config, Readings::all);
    if (!result) {
      out.push_back({step, {}, result.error()});
      continue;
    }
    out.push_back({step, result->record, ""});
    simulations.push_back(*std::move(result));
  }
  return out;
}

// One file for each table and format, and one with everything.
void write_files(const PaperReport& report, const fs::path& folder) {
  constexpr std::array<const char*, 3> kNames{"table_paper", "table_first_principles",
                                              "decode_step"};
  const std::vector<Table> tables = tables_of(report);
  TS_EXPECTS(tables.size() == kNames.size(), tables.size());
  std::string markdown = fmt::format("# {}\n\n", report.paper);
  for (std::size_t i = 0; i < tables.size(); ++i) {
    markdown += to_markdown(tables[i]) + '\n';
    write_file(folder / (std::string(kNames[i]) + ".csv"), to_csv(tables[i]));
    write_file(folder / (std::string(kNames[i]) + ".tex"), to_latex(tables[i]));
  }
  write_file(folder / "report.md", markdown);
  write_file(folder / "report.json", to_json(report));
  fmt::print(stderr, "tiersim: wrote {}/report.md, report.json and the tables as .csv and .tex\n",
             folder.string());
}

std::vector<std::string> papers() {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(targets_root()))
    if (entry.path().extension() == ".yaml") out.push_back(entry.path().stem().string());
  std::ranges::sort(out);
  return out;
}

std::vector<std::string> chosen_papers(const std::string& asked) {
  std::vector<std::string> all = papers();
  if (asked == "all") return all;
  if (std::ranges::find(all, asked) != all.end()) return {asked};
  throw Failure(
      ExitCode::usage,
      fmt::format("tiersim: error: no targets for '{}' (there are: {}, all)", asked, join(all)));
}

ExitCode reproduce(const Options& options) {
  bool hold = true;
  std::vector<Simulation> simulations;
  for (const std::string& name : chosen_papers(options.paper)) {
    const Targets targets = load_targets(targets_root() / (name + ".yaml"));
    const PaperReport report{.name = name,
                             .paper = targets.paper,
                             .rows = reproduce_rows(targets),
                             .steps = reproduce_steps(targets, simulations)};
    hold = hold && report.all_hold();
    if (options.json) {
      fmt::print("{}", to_json(report));
    } else {
      fmt::print("{}\n\n", report.paper);
      for (const Table& table : tables_of(report)) fmt::print("{}\n", to_text(table));
    }
    if (!options.no_files) write_files(report, fs::path(options.folder) / name);
  }
  if (!options.trace.empty()) write_file(options.trace, to_perfetto_json(simulations));
  if (hold) return ExitCode::ok;
  fmt::print(stderr, "tiersim: a target is missed (status fail)\n");
  return ExitCode::target_missed;
}

}  // namespace

void add_reproduce(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("reproduce", "A paper's tables beside what is simulated");
  verb->add_option("PAPER", options->paper, "maple, or all")->capture_default_str();
  verb->add_option("-o,--out", options->folder, "Folder for the report's files")
      ->capture_default_str();
  verb->add_option("--trace", options->trace, "Write the decode steps as a timeline for Perfetto");
  verb->add_flag("--json", options->json, "Print JSON instead of tables");
  verb->add_flag("--no-files", options->no_files, "Write no files");
  verb->callback([options, &action] { action = [options] { return reproduce(*options); }; });
}

}  // namespace tiersim::cli
