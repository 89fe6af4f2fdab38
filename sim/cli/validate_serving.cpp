#include "sim/cli/validate_serving.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "reports/published/published_page.hpp"
#include "reports/published/published_text.hpp"
#include "reports/render/figure_svg.hpp"
#include "sim/base/text.hpp"
#include "sim/base/version.hpp"
#include "sim/cli/figure_file.hpp"
#include "sim/cli/measured_runs.hpp"
#include "sim/runner/files.hpp"
#include "sim/runner/load.hpp"

namespace tiersim::cli {
namespace fs = std::filesystem;
namespace {

struct ValidateServingArguments {
  RunTableOptions tables;
  std::string runs;
  std::int64_t jobs = 0;
  std::optional<std::int64_t> draws;
  std::string page;
  std::string figure;
  bool json = false;
};

PublishedRuns load_runs(const fs::path& path) {
  Diagnostics diagnostics;
  const Document document = load_document(path, standard_options(), diagnostics);
  auto runs = read<PublishedRuns>(document, "published_runs", diagnostics);
  throw_if_any(diagnostics);
  for (std::size_t g = 0; g < runs.groups.size(); ++g)
    for (std::size_t r = 0; r < runs.groups[g].runs.size(); ++r) {
      const Location where = document.locate(fmt::format("groups.{}.runs.{}", g, r));
      runs.groups[g].runs[r].at = fmt::format("{}:{}", where.file, where.line);
    }
  return runs;
}

void refuse_without_effect(const ValidateServingArguments& options) {
  const auto refuse = [](bool given, const char* option, const char* why) {
    if (given)
      throw Failure(ExitCode::usage,
                    fmt::format("tiersim: error: {} has no effect {}", option, why));
  };
  const bool tables = !options.tables.files.empty();
  refuse(!options.runs.empty() && tables, "--runs", "beside tables of runs");
  refuse(!options.tables.table.empty() && !tables, "--table", "without a table of runs: FILE");
  refuse(!options.tables.config.empty() && !tables, "--config", "without a table of runs: FILE");
}

void print(const ValidateServingArguments& options, const PublishedRuns& runs,
           const std::vector<PublishedOutcome>& outcomes) {
  if (options.json) {
    fmt::print("{}", to_json(runs, outcomes));
  } else if (options.tables.files.empty()) {
    fmt::print("{}", to_text(runs, outcomes));
  } else {
    fmt::print("{}", to_text(errors_table(runs, outcomes)));
    for (const Table& table : label_tables(outcomes)) fmt::print("\n{}", to_text(table));
  }
}

void write_drawing(const std::string& file, const Figure& figure) {
  if (figure.panels.empty())
    fmt::print(stderr, "tiersim: --figure: no run has a value to draw; {} is not written\n",
               printable(file));
  else
    write_figure(file, to_svg(figure));
}

ExitCode validate_serving(const ValidateServingArguments& options) {
  refuse_without_effect(options);
  if (!options.page.empty()) expect_writable(options.page);
  expect_figure(options.figure);
  const fs::path published =
      options.runs.empty() ? targets_root() / "published" / "serving.yaml" : fs::path(options.runs);
  PublishedRuns runs =
      options.tables.files.empty() ? load_runs(published) : read_tables_of_runs(options.tables);
  keep_groups(options.tables.only, runs);
  std::vector<std::string> set = options.tables.set;
  if (options.draws) set.push_back(fmt::format("uncertainty.draws={}", *options.draws));
  const std::vector<PublishedOutcome> outcomes =
      simulate(runs, configured_runs(runs, set), options.jobs);
  print(options, runs, outcomes);
  if (!options.page.empty()) write_file(options.page, published_page(runs, outcomes, kVersion));
  if (!options.figure.empty()) write_drawing(options.figure, published_figure(runs, outcomes));
  const auto failed = std::ranges::count_if(
      outcomes, [](const PublishedOutcome& outcome) { return !outcome.problem.empty(); });
  if (failed == 0) return ExitCode::ok;
  fmt::print(stderr, "tiersim: {} of {} runs could not be simulated\n", failed, outcomes.size());
  return ExitCode::points_failed;
}

}  // namespace

void add_validate_serving(Verb validate) {
  auto options = std::make_shared<ValidateServingArguments>();
  Verb verb =
      validate.add("serving", "Compare simulated servers with published runs of inference servers");
  verb.footer(
      "The exit status is 0 whatever the errors are, and 4 if a run cannot be simulated. No "
      "shipped\n"
      "model is fitted to whole runs.");
  add_run_tables(verb, options->tables,
                 "Tables of runs, or JSON results of benchmarks; without one, the published runs");
  verb.option("--runs", options->runs,
              "Published runs (schema tiersim.published_runs/v1); the shipped runs by default");
  verb.option("-j,--jobs", options->jobs, "Number of runs at a time; 0 is one for each core")
      .between(0, 1024);
  verb.option("--draws", options->draws,
              "Draw the numbers of each run this often from their intervals, and count the values "
              "that lie in the interval of the results")
      .between(20, 10'000);
  verb.option("-o,--output", options->page, "Also write a page of the tables and the drawing")
      .type("FILE.html");
  verb.option("--figure", options->figure, "Also draw simulated over measured values")
      .type("FILE.svg");
  verb.flag("--json", options->json, "Print JSON instead of tables");
  verb.on_chosen([options] { return validate_serving(*options); });
}

void add_validate_energy(Verb validate) {
  auto options = std::make_shared<ValidateServingArguments>();
  Verb verb = validate.add("energy", "Compare energy and power of simulated servers with measured");
  verb.footer(
      "The runs are those of configs/calibration/energy. The label `rows` tells the runs to which\n"
      "the energy of the cards is fitted from those that were held out, and from those that were\n"
      "predicted before their measured values were read (unseen).");
  verb.option("--only", options->tables.only, "Only this group of runs (repeatable)").type("GROUP");
  verb.option("--set", options->tables.set, "Change a default of every run (repeatable)")
      .type(kSettingType);
  verb.option("-j,--jobs", options->jobs, "Number of runs at a time; 0 is one for each core")
      .between(0, 1024);
  verb.option("-o,--output", options->page, "Also write a page of the tables and the drawing")
      .type("FILE.html");
  verb.flag("--json", options->json, "Print JSON instead of tables");
  verb.on_chosen([options] {
    for (const char* file : {"served_runs.csv", "unseen_runs.csv"})
      options->tables.files.push_back((config_root() / "calibration" / "energy" / file).string());
    options->tables.table = "ml_energy";
    return validate_serving(*options);
  });
}

}  // namespace tiersim::cli
