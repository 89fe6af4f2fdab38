#include "sim/cli/measured_runs.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "sim/base/gunzip.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/progress.hpp"
#include "sim/runner/files.hpp"
#include "sim/runner/load.hpp"
#include "sim/serving/serve.hpp"
#include "sim/validate/run_table.hpp"

namespace tiersim::cli {
namespace fs = std::filesystem;
namespace {

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

PublishedOutcome outcome_of(const PublishedRuns& runs, const MeasuredRun& run) {
  const auto record = serve(run.config);
  return record ? score(runs, *run.group, *run.run, *record)
                : PublishedOutcome{.group = run.group, .run = run.run, .problem = record.error()};
}

}  // namespace

Diagnostic at_row(const PublishedRun& run, Diagnostic mistake) {
  const std::size_t colon = run.at.rfind(':');
  if (colon == std::string::npos) return mistake;
  if (!mistake.where.file.empty())
    mistake.message = fmt::format("run {}: {}: {}", run.id, mistake.where.file, mistake.message);
  mistake.where = {run.at.substr(0, colon), std::stoi(run.at.substr(colon + 1)), 1};
  return mistake;
}

void add_run_tables(Verb verb, RunTableOptions& options, const std::string& about_files) {
  verb.option("FILE", options.files, about_files);
  verb.option(
      "--table", options.table,
      "Description of the tables: a name in configs/run_tables, or a file; aiconfigurator by "
      "default");
  verb.option("--config", options.config,
              "Serving file of the tables' runs, instead of that of the description");
  verb.option("--only", options.only, "Only this group of runs (repeatable)").type("GROUP");
  verb.option("--set", options.set,
              "Change a default of every run, which keeps its own settings: "
              "system.gpu.calibration=NAME (repeatable)")
      .type(kSettingType);
}

void keep_groups(const std::vector<std::string>& only, PublishedRuns& runs) {
  if (only.empty()) return;
  std::vector<std::string> names;
  for (const PublishedGroup& group : runs.groups) names.push_back(group.id);
  for (const std::string& name : only)
    if (std::ranges::find(names, name) == names.end())
      throw Failure(
          ExitCode::usage,
          fmt::format("tiersim: error: --only '{}': there is no such group (there are: {})",
                      printable(name), printable(join(names))));
  std::erase_if(runs.groups, [&](const PublishedGroup& group) {
    return std::ranges::find(only, group.id) == only.end();
  });
}

PublishedRuns read_tables_of_runs(const RunTableOptions& options) {
  RunTableConfig config =
      load_run_description(options.table.empty() ? "aiconfigurator" : options.table);
  if (!options.config.empty()) config.config = fs::absolute(options.config).string();
  PublishedRuns out;
  Diagnostics diagnostics;
  for (const std::string& file : options.files) {
    const auto text = gunzipped(read_file(file));
    if (!text) {
      diagnostics.report({{file, 1, 1}, text.error()});
      continue;
    }
    auto table = read_run_table(file, *text, config);
    if (!table) throw_if_any(table.error());
    for (const PublishedGroup& group : table->runs.groups) merge(group, out, diagnostics);
    print_left_out(file, table->skipped);
  }
  if (out.groups.empty() && diagnostics.ok())
    diagnostics.report({{options.files.front(), 1, 1}, "no row is left to simulate"});
  throw_if_any(diagnostics);
  keep_groups(options.only, out);
  return out;
}

std::vector<MeasuredRun> configured_runs(const PublishedRuns& runs,
                                         const std::vector<std::string>& set) {
  constexpr int kMostMistakes = 20;
  std::vector<MeasuredRun> out;
  Diagnostics diagnostics;
  int mistakes = 0;
  const auto bases = std::make_shared<BaseFiles>();
  for (const PublishedGroup& group : runs.groups)
    for (const PublishedRun& run : group.runs) {
      std::vector<std::string> all = set;
      for (std::string& each : settings_of(group, run)) all.push_back(std::move(each));
      LoadOptions options = standard_options(std::move(all));
      options.bases = bases;
      Diagnostics of_run;
      const Document document = load_document(config_root() / group.config, options, of_run);
      out.push_back({.group = &group,
                     .run = &run,
                     .config = read<ServingConfig>(document, "serving", of_run)});
      if (run.published.hit_rate && of_run.ok() && !out.back().config.server.prefix_cache)
        of_run.report({{group.config, 1, 1},
                       "its server keeps no prefixes, and the run has a published hit_rate",
                       "server.prefix_cache, or no hit_rate"});
      for (const Diagnostic& each : of_run.list())
        if (mistakes++ < kMostMistakes) diagnostics.report(at_row(run, each));
    }
  throw_if_any(diagnostics);
  return out;
}

std::vector<PublishedOutcome> simulate(const PublishedRuns& runs,
                                       const std::vector<MeasuredRun>& measured,
                                       std::int64_t jobs) {
  std::vector<PublishedOutcome> outcomes(measured.size());
  std::vector<std::exception_ptr> thrown(measured.size());  // a fault, or a number out of range
  std::atomic<std::size_t> next{0};
  std::mutex showing;
  std::int64_t done = 0;
  ProgressLine progress("runs");
  const auto work = [&] {
    for (std::size_t i = next++; i < measured.size(); i = next++) {
      try {
        outcomes[i] = outcome_of(runs, measured[i]);
      } catch (...) {
        thrown[i] = std::current_exception();
      }
      const std::lock_guard lock(showing);
      progress.update(++done, 0, std::ssize(measured), "");
    }
  };
  {
    const auto cores = static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()));
    std::vector<std::jthread> workers;
    for (std::int64_t k = 1; k < (jobs == 0 ? cores : jobs); ++k) workers.emplace_back(work);
    work();
  }
  for (const std::exception_ptr& each : thrown)
    if (each) std::rethrow_exception(each);
  return outcomes;
}

}  // namespace tiersim::cli
