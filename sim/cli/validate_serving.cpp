#include "sim/cli/validate_serving.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "reports/published/published_page.hpp"
#include "reports/published/published_text.hpp"
#include "reports/render/figure_svg.hpp"
#include "sim/base/text.hpp"
#include "sim/base/version.hpp"
#include "sim/cli/gunzip.hpp"
#include "sim/runner/files.hpp"
#include "sim/runner/load.hpp"
#include "sim/serving/serve.hpp"
#include "sim/validate/run_table.hpp"

namespace tiersim::cli {
namespace fs = std::filesystem;
namespace {

struct ValidateServingArguments {
  std::vector<std::string> files;
  std::string table;
  std::string config;
  std::string runs;
  std::vector<std::string> only;
  std::vector<std::string> set;
  std::int64_t jobs = 0;
  std::optional<std::int64_t> draws;
  std::string page;
  std::string figure;
  bool json = false;
};

struct Task {
  const PublishedGroup* group = nullptr;
  const PublishedRun* run = nullptr;
  ServingConfig config;
  PublishedOutcome outcome = {};
  std::exception_ptr thrown = {};  ///< a fault of this program, or a number out of range
};

PublishedRuns load_runs(const fs::path& path) {
  Diagnostics diagnostics;
  const Document document = load_document(path, standard_options(), diagnostics);
  auto runs = read<PublishedRuns>(document, "published_runs", diagnostics);
  throw_if_any(diagnostics);
  return runs;
}

// Reports a mistake in the settings of a run at the row of the table that the run comes from.
Diagnostic at_row(const PublishedRun& run, Diagnostic mistake) {
  const std::size_t colon = run.at.rfind(':');
  if (colon == std::string::npos) return mistake;
  if (!mistake.where.file.empty())
    mistake.message = fmt::format("run {}: {}: {}", run.id, mistake.where.file, mistake.message);
  mistake.where = {run.at.substr(0, colon), std::stoi(run.at.substr(colon + 1)), 1};
  return mistake;
}

// A name in configs/run_tables, or a file.
RunTableConfig load_run_description(const std::string& table) {
  const fs::path folder = config_root() / "run_tables";
  const fs::path shipped = folder / (table + ".yaml");
  if (!fs::exists(shipped) && !fs::exists(table)) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().stem());
    std::ranges::sort(names);
    throw Failure(
        ExitCode::usage,
        fmt::format("tiersim: error: --table '{}': there is no such description (there are: {}; "
                    "or a file)",
                    printable(table), join(names)));
  }
  Diagnostics diagnostics;
  const Document document = load_document(fs::exists(shipped) ? shipped : fs::path(table),
                                          standard_options(), diagnostics);
  auto config = read<RunTableConfig>(document, "run_table", diagnostics);
  throw_if_any(diagnostics);
  return config;
}

// Adds the runs of a group to those of earlier tables, into the group of the same name if there is
// one.
void merge(PublishedGroup group, PublishedRuns& into, Diagnostics& diagnostics) {
  const auto same = std::ranges::find(into.groups, group.id, &PublishedGroup::id);
  if (same == into.groups.end()) {
    into.groups.push_back(std::move(group));
    return;
  }
  for (PublishedRun& run : group.runs) {
    const auto twice = std::ranges::find(same->runs, run.id, &PublishedRun::id);
    if (twice == same->runs.end())
      same->runs.push_back(std::move(run));
    else
      diagnostics.report(
          at_row(run, {.where = {},
                       .message = fmt::format("a run of {} is named '{}' as that of {}", same->id,
                                              run.id, twice->at)}));
  }
}

void print_left_out(const std::string& file, const std::map<std::string, std::int64_t>& skipped) {
  constexpr std::size_t kMostReasons = 20;
  std::size_t printed = 0;
  std::int64_t others = 0;
  for (const auto& [why, rows] : skipped)
    if (++printed <= kMostReasons)
      fmt::print(stderr, "{}: {} rows left out: {}\n", printable(file), rows, printable(why));
    else
      others += rows;
  if (others > 0)
    fmt::print(stderr, "{}: {} more rows left out, for {} more reasons\n", printable(file), others,
               skipped.size() - kMostReasons);
}

// The rows of all files; those that are left out are counted on stderr.
PublishedRuns read_tables_of_runs(const ValidateServingArguments& options) {
  RunTableConfig config =
      load_run_description(options.table.empty() ? "aiconfigurator" : options.table);
  if (!options.config.empty()) config.config = fs::absolute(options.config).string();
  PublishedRuns out;
  Diagnostics diagnostics;
  for (const std::string& file : options.files) {
    auto table = read_run_table(file, gunzipped(file, read_file(file)), config);
    if (!table) throw_if_any(table.error());
    for (const PublishedGroup& group : table->runs.groups) merge(group, out, diagnostics);
    print_left_out(file, table->skipped);
  }
  if (out.groups.empty() && diagnostics.ok())
    diagnostics.report({{options.files.front(), 1, 1}, "no row is left to simulate"});
  throw_if_any(diagnostics);
  return out;
}

void expect_known(const PublishedRuns& runs, const std::vector<std::string>& only) {
  std::vector<std::string> names;
  for (const PublishedGroup& group : runs.groups) names.push_back(group.id);
  for (const std::string& name : only)
    if (std::ranges::find(names, name) == names.end())
      throw Failure(
          ExitCode::usage,
          fmt::format("tiersim: error: --only '{}': there is no such group (there are: {})",
                      printable(name), join(names)));
}

// The configuration of every run, or every mistake in any of them. The user's settings lie under
// those that define a run.
std::vector<Task> load_tasks(const PublishedRuns& runs, const ValidateServingArguments& options) {
  constexpr int kMostMistakes = 20;
  std::vector<Task> tasks;
  Diagnostics diagnostics;
  int mistakes = 0;
  for (const PublishedGroup& group : runs.groups)
    for (const PublishedRun& run : group.runs) {
      std::vector<std::string> set = options.set;
      if (options.draws) set.push_back(fmt::format("uncertainty.draws={}", *options.draws));
      for (std::string& each : settings_of(group, run)) set.push_back(std::move(each));
      Diagnostics of_run;
      const Document document =
          load_document(config_root() / group.config, standard_options(set), of_run);
      tasks.push_back({.group = &group,
                       .run = &run,
                       .config = read<ServingConfig>(document, "serving", of_run)});
      for (const Diagnostic& each : of_run.list())
        if (mistakes++ < kMostMistakes) diagnostics.report(at_row(run, each));
    }
  throw_if_any(diagnostics);
  return tasks;
}

void run_task(const PublishedRuns& runs, Task& task) {
  const auto record = serve(task.config);
  task.outcome =
      record ? score(runs, *task.group, *task.run, *record)
             : PublishedOutcome{.group = task.group, .run = task.run, .problem = record.error()};
}

void run_all(const PublishedRuns& runs, std::vector<Task>& tasks, std::int64_t jobs) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < tasks.size(); i = next++) try {
        run_task(runs, tasks[i]);
      } catch (...) {
        tasks[i].thrown = std::current_exception();
      }
  };
  {
    std::vector<std::jthread> workers;
    for (std::int64_t k = 1; k < jobs; ++k) workers.emplace_back(work);
    work();
  }
  for (const Task& task : tasks)
    if (task.thrown) std::rethrow_exception(task.thrown);
}

void refuse_without_effect(const ValidateServingArguments& options) {
  const auto refuse = [](bool given, const char* option, const char* why) {
    if (given)
      throw Failure(ExitCode::usage,
                    fmt::format("tiersim: error: {} has no effect {}", option, why));
  };
  const bool tables = !options.files.empty();
  refuse(!options.runs.empty() && tables, "--runs", "beside tables of runs");
  refuse(!options.table.empty() && !tables, "--table", "without a table of runs: FILE");
  refuse(!options.config.empty() && !tables, "--config", "without a table of runs: FILE");
}

void print(const ValidateServingArguments& options, const PublishedRuns& runs,
           const std::vector<PublishedOutcome>& outcomes) {
  if (options.json) {
    fmt::print("{}", to_json(runs, outcomes));
  } else if (options.files.empty()) {
    fmt::print("{}", to_text(runs, outcomes));
  } else {
    fmt::print("{}", to_text(printable(errors_table(runs, outcomes))));
    for (const Table& table : label_tables(outcomes))
      fmt::print("\n{}", to_text(printable(table)));
  }
}

ExitCode validate_serving(const ValidateServingArguments& options) {
  refuse_without_effect(options);
  for (const std::string* file : {&options.page, &options.figure})
    if (!file->empty()) expect_writable(*file);
  const fs::path published =
      options.runs.empty() ? targets_root() / "published" / "serving.yaml" : fs::path(options.runs);
  PublishedRuns runs = options.files.empty() ? load_runs(published) : read_tables_of_runs(options);
  expect_known(runs, options.only);
  if (!options.only.empty())
    std::erase_if(runs.groups, [&](const PublishedGroup& group) {
      return std::ranges::find(options.only, group.id) == options.only.end();
    });
  std::vector<Task> tasks = load_tasks(runs, options);
  const auto cores = static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  run_all(runs, tasks, options.jobs == 0 ? cores : options.jobs);
  std::vector<PublishedOutcome> outcomes;
  for (Task& task : tasks) outcomes.push_back(std::move(task.outcome));
  print(options, runs, outcomes);
  if (!options.page.empty()) write_file(options.page, published_page(runs, outcomes, kVersion));
  if (!options.figure.empty())
    write_file(options.figure, to_svg(published_figure(runs, outcomes)));
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
      "The exit status is 0 whatever the errors are, and 4 if a run cannot be simulated. No model\n"
      "is fitted to these runs.");
  verb.option("FILE", options->files,
              "Tables of runs, or JSON results of benchmarks; without one, the published runs");
  verb.option(
      "--table", options->table,
      "Description of the tables: a name in configs/run_tables, or a file; aiconfigurator by "
      "default");
  verb.option("--config", options->config,
              "Serving file of the tables' runs, instead of that of the description");
  verb.option("--runs", options->runs,
              "Published runs (schema tiersim.published_runs/v1); the shipped runs by default");
  verb.option("--only", options->only, "Simulate only this group of runs (repeatable)");
  verb.option("--set", options->set,
              "Change a default of every run, which keeps its own settings: "
              "system.gpu.calibration=NAME (repeatable)")
      .type(kSettingType);
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

}  // namespace tiersim::cli
