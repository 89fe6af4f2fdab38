// tiersim reproduce [PAPER]: runs the shipped scenarios of a paper and prints its table, in each
// reading, beside the simulated values; draws its figures; runs the questions beyond it. Exit 5 if
// a target is missed.
#include <malloc.h>

#include <algorithm>
#include <future>

#include <fmt/format.h>

#include "reports/papers/reproduce/paper_report.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/command_line.hpp"
#include "sim/cli/repeated_points.hpp"
#include "sim/cli/reproduce_files.hpp"
#include "sim/cli/trace_file.hpp"
#include "sim/runner/files.hpp"
#include "sim/runner/load.hpp"
#include "sim/study/comparison_run.hpp"
#include "sim/study/early_exit_run.hpp"
#include "sim/study/paper_run.hpp"
#include "sim/study/recall_run.hpp"
#include "sim/study/served_loads_run.hpp"
#include "sim/study/statement_run.hpp"
#include "sim/study/win_map_run.hpp"
#include "sim/trace/step_trace.hpp"

namespace tiersim::cli {
namespace fs = std::filesystem;
namespace {

struct ReproduceArguments {
  std::vector<std::string> set;
  std::string paper = "all";
  std::string folder = "out/reproduce";
  std::string trace;
  bool json = false;
  bool full = false;
  bool no_files = false;
};

// File names of papers have underscores in place of hyphens.
fs::path targets_of(std::string paper) {
  std::ranges::replace(paper, '-', '_');
  return targets_root() / (paper + ".yaml");
}

std::vector<std::string> papers() {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(targets_root()))
    // Files of `tiersim predict` lie in the same folder.
    if (entry.path().extension() == ".yaml" &&
        !entry.path().stem().string().ends_with("_predictions"))
      out.push_back(entry.path().stem().string());
  for (std::string& paper : out) std::ranges::replace(paper, '_', '-');
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

void write_files(const PaperReport& report, const fs::path& folder) {
  for (const ReportFile& file : files_of(report)) write_file(folder / file.name, file.text);
  fmt::print(stderr, "tiersim: wrote {}/report.md, report.json and the tables as .csv and .tex\n",
             folder.string());
}

std::vector<ReportSection> sections(const Targets& targets, const LoadOptions& files,
                                    std::future<std::vector<ReportSection>>& numerics) {
  std::vector<ReportSection> out = reproduce_comparisons(targets, files);
  for (ReportSection& section : reproduce_maps(targets, files)) out.push_back(std::move(section));
  for (ReportSection& section : numerics.get()) out.push_back(std::move(section));
  for (ReportSection& section : reproduce_early_exit(targets, files))
    out.push_back(std::move(section));
  for (ReportSection& section : reproduce_served_loads(targets, files))
    out.push_back(std::move(section));
  if (!targets.unsimulated.empty()) out.push_back(section_of(targets.unsimulated));
  return out;
}

PaperReport reproduced(const std::string& name, const LoadOptions& files, PointRunner& runner,
                       std::vector<Simulation>* simulations) {
  const Targets targets = load_targets(targets_of(name));
  std::future<std::vector<ReportSection>> numerics = start_numerics(targets);
  return {.name = name,
          .paper = targets.paper,
          .rows = reproduce_rows(targets, runner),
          .steps = reproduce_steps(targets, files, simulations),
          .studies = reproduce_studies(targets, runner),
          .solves = reproduce_solves(targets, runner),
          .digest = targets.digest,
          .sections = sections(targets, files, numerics)};
}

void print(const PaperReport& report, const ReproduceArguments& options) {
  const Shown shown = options.full ? Shown::all : Shown::summary;
  fmt::print("{}", options.json ? to_json(report) : to_text(report, shown));
  const bool more = !report.studies.empty() || !report.solves.empty();
  if (shown == Shown::summary && !options.json && more)
    fmt::print("{} studies and {} questions whole: --full{}\n", report.studies.size(),
               report.solves.size(), options.no_files ? "" : ", or the files");
}

ExitCode reproduce(const ReproduceArguments& options) {
  // Threads of studies come and go; with an arena of its own for each, the heap is a third larger.
  mallopt(M_ARENA_MAX, 2);
  const std::vector<std::string> names = chosen_papers(options.paper);
  expect_not_a_source(options.trace);
  // Only the page shows it, beside the methods of one paper.
  std::future<std::vector<RecallPoint>> recall;
  if (!options.no_files && std::ranges::find(names, "maple") != names.end())
    recall = start_recall();
  std::vector<Simulation> simulations;
  std::vector<PaperReport> reports;
  LoadOptions files = standard_options(options.set);
  files.bases = std::make_shared<BaseFiles>();
  PointRunner runner(files, Kept::results, run_repeated_points());
  const fs::path folder(options.folder);
  for (const std::string& name : names) {
    reports.push_back(
        reproduced(name, files, runner, options.trace.empty() ? nullptr : &simulations));
    print(reports.back(), options);
    if (!options.no_files) write_files(reports.back(), folder / name);
  }
  const bool hold = std::ranges::all_of(reports, &PaperReport::all_hold);
  if (!options.trace.empty()) {
    TraceFile trace(options.trace);
    write_trace(simulations, trace.sink());
    trace.commit();
  }
  if (!options.no_files)
    write_page(std::move(reports), recall.valid() ? recall.get() : std::vector<RecallPoint>{},
               options.set, options.paper == "all" ? folder : folder / options.paper);
  if (hold) return ExitCode::ok;
  fmt::print(stderr, "tiersim: a target is missed (status fail)\n");
  return ExitCode::target_missed;
}

}  // namespace

void add_reproduce(Verb program) {
  auto options = std::make_shared<ReproduceArguments>();
  Verb verb = program.add(
      "reproduce", "Simulate the experiments of a paper and compare the results with its tables");
  verb.option(
          "PAPER", options->paper,
          "Paper to reproduce: afd, early-exit, maple, sparse-offload, tpla, wide-experts, or all")
      .show_default();
  verb.option("--set", options->set,
              "Change a default of every scenario, which keeps its own settings: "
              "system.gpu.calibration=NAME (repeatable)")
      .type(kSettingType);
  verb.option("-o,--out", options->folder, "Folder for the report's files").show_default();
  verb.option("--trace", options->trace, "Write the decode steps as a timeline for Perfetto");
  verb.flag("--json", options->json, "Print JSON instead of tables");
  verb.flag("--full", options->full, "Print every study and question in full instead of a digest");
  verb.flag("--no-files", options->no_files, "Write no files");
  verb.on_chosen([options] { return reproduce(*options); });
}

}  // namespace tiersim::cli
