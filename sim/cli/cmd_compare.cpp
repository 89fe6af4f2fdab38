// tiersim compare A B: two records side by side. Each is a configuration to run, a record, or a
// point of a store. With --table, B is a measured run of the server A.
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "reports/compare/difference_text.hpp"
#include "reports/compare/run_difference_text.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/measured_runs.hpp"
#include "sim/cli/point_sources.hpp"
#include "sim/cli/stored_points.hpp"
#include "sim/record/record_reader.hpp"
#include "sim/runner/load.hpp"
#include "sim/validate/run_difference.hpp"

namespace tiersim::cli {
namespace {

struct CompareOptions {
  std::string a;
  std::string b;
  std::vector<std::string> set;
  std::vector<std::string> set_a;
  std::vector<std::string> set_b;
  std::string format = "text";
  std::string table;
  std::string run;
  bool measured = false;
  bool json = false;
};

[[noreturn]] void refuse(const std::string& source, const std::string& why) {
  throw Failure(ExitCode::usage, fmt::format("tiersim: error: {}: {}", printable(source), why));
}

// A stored point: its results from the store, and its configuration from the stored inputs.
RunRecord of_store(const StoredPointName& name, const std::string& source) {
  SweepStore store(name.store, SweepStore::Access::read);
  const FoundPoint found = find_point(store, name);
  if (found.point.outcome.status != PointStatus::ok)
    refuse(source, "has no result: " + printable(found.point.outcome.problem));
  auto record = read_results(found.point.outcome.results);
  if (!record)
    throw Failure(ExitCode::bad_config,
                  fmt::format("{}:1:1: error: {}", printable(source), record.error()));
  RunRecord out = *std::move(record);
  out.run_id = found.point.outcome.id;
  out.tiersim_version = found.sweep.version;
  const Document document = document_of(store, found);
  Diagnostics diagnostics;
  const Runnable config = read_runnable(document, diagnostics);
  throw_if_any(diagnostics);
  out.config = canonical_json(config);
  return out;
}

// A whole record also keeps its configuration, which a point of a table does not.
std::optional<RunRecord> of_record(const std::string& source, const std::vector<std::string>& set) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(source, none)) return std::nullopt;
  const std::string text = read_file(source);
  if (!origin_of_record(text)) return std::nullopt;
  if (!set.empty())
    refuse(source,
           "is a record; --set is for configurations (--set-a and --set-b are for one side)");
  auto record = read_record(text);
  if (record) return *std::move(record);
  throw Failure(ExitCode::bad_config,
                fmt::format("{}:1:1: error: {}", printable(source), record.error()));
}

RunRecord record_of(const std::string& source, const std::vector<std::string>& set) {
  if (const auto name = stored_point_name(source)) {
    if (!set.empty())
      refuse(source,
             "is a point of a store; --set is for configurations (--set-a and --set-b are for one "
             "side)");
    return of_store(*name, source);
  }
  if (SweepStore::is_store(source))
    refuse(source, "is a store; say which point: FILE:POSITION or FILE:RUN-ID");
  if (auto record = of_record(source, set)) return *std::move(record);
  SourceOptions one;
  one.sources = {source};
  one.set = set;
  const PointTable table = load_points(one, Evaluation::all);
  const ReportPoint& point = table.points.front();
  if (!point.record)
    throw Failure(ExitCode::bad_config,
                  fmt::format("{}:1:1: error: {}", printable(source), printable(point.problem)));
  return *point.record;
}

std::vector<std::string> both(const std::vector<std::string>& set,
                              const std::vector<std::string>& more) {
  std::vector<std::string> out = set;
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

std::string with_settings(const std::string& source, const std::vector<std::string>& set) {
  return set.empty() ? source : fmt::format("{} ({})", source, join(set));
}

// Leaves the run that --run names, by its id or as GROUP.ID, or the only one.
void keep_chosen_run(PublishedRuns& runs, const CompareOptions& options) {
  std::vector<std::string> all;
  std::vector<std::string> chosen;
  for (PublishedGroup& group : runs.groups) {
    const auto is_chosen = [&](const PublishedRun& run) {
      return options.run.empty() || options.run == run.id || options.run == group.id + '.' + run.id;
    };
    for (const PublishedRun& run : group.runs) {
      all.push_back(group.id + '.' + run.id);
      if (is_chosen(run)) chosen.push_back(all.back());
    }
    std::erase_if(group.runs, [&](const PublishedRun& run) { return !is_chosen(run); });
  }
  std::erase_if(runs.groups, [](const PublishedGroup& group) { return group.runs.empty(); });
  if (chosen.size() == 1) return;
  const auto some_of = [](std::vector<std::string> names) {
    constexpr std::size_t kMostNames = 8;
    const std::size_t more = names.size() - std::min(names.size(), kMostNames);
    names.resize(names.size() - more);
    return printable(join(names)) + (more == 0 ? "" : fmt::format(" and {} more", more));
  };
  if (chosen.empty())
    refuse(options.b,
           fmt::format("has no run '{}' (there are: {})", printable(options.run), some_of(all)));
  refuse(options.b,
         fmt::format("has {} runs{}; --run says which (there are: {})", chosen.size(),
                     options.run.empty() ? std::string()
                                         : fmt::format(" named '{}'", printable(options.run)),
                     some_of(chosen)));
}

// A serving file beside a measured run of that server.
ExitCode compare_measured(const CompareOptions& options) {
  if (!options.set_b.empty())
    throw Failure(ExitCode::usage, "tiersim: error: --set-b: B is measured");
  PublishedRuns runs = read_tables_of_runs(
      {.files = {options.b}, .table = options.table, .config = options.a, .only = {}, .set = {}});
  keep_chosen_run(runs, options);
  const std::vector<MeasuredRun> measured = configured_runs(runs, both(options.set, options.set_a));
  const MeasuredRun& run = measured.front();
  if (!run.run->published.tpot && !run.run->published.ttft)
    refuse(options.b, fmt::format("run {} has neither a time per output token nor a time to the "
                                  "first token, and no other metric has parts",
                                  printable(run.run->id)));
  if (run.config.early_exit || run.config.scenario.model.encoder)
    refuse(options.a, "iterations with early exit or an encoder have no mean");
  const auto difference = difference_of(run.config, run.run->published);
  if (!difference)
    throw Failure(ExitCode::bad_config, fmt::format("{}:1:1: error: {}", printable(options.a),
                                                    printable(difference.error())));
  if (options.json || options.format == "json")
    fmt::print("{}", run_difference_json(*difference));
  else
    print_tables(run_difference_tables(*difference), options.format);
  return ExitCode::ok;
}

ExitCode compare(const CompareOptions& options) {
  if (options.measured) return compare_measured(options);
  if (!options.run.empty())
    throw Failure(ExitCode::usage, "tiersim: error: --run has no effect without --table");
  const auto set_a = both(options.set, options.set_a);
  const auto set_b = both(options.set, options.set_b);
  const RunRecord a = record_of(options.a, set_a);
  const RunRecord b = record_of(options.b, set_b);
  const ComparedRecord first{with_settings(options.a, set_a), &a};
  const ComparedRecord second{with_settings(options.b, set_b), &b};
  const RecordDifference difference = difference_of(a, b);
  if (options.json || options.format == "json")
    fmt::print("{}", difference_json(first, second, difference));
  else
    print_tables(difference_tables(first, second, difference), options.format);
  return ExitCode::ok;
}

}  // namespace

void add_compare(Verb program) {
  auto options = std::make_shared<CompareOptions>();
  Verb verb = program.add("compare", "Show how the settings and results of two runs differ");
  constexpr const char* kSource = "Configuration, record, or point of a store (FILE:POSITION)";
  verb.option("A", options->a, kSource).required();
  verb.option("B", options->b, kSource).required();
  const auto add_set = [&](const char* name, std::vector<std::string>& set, const char* help) {
    verb.option(name, set, help).type(kSettingType);
  };
  add_set("--set", options->set, "Override a setting of configurations: a.b=value (repeatable)");
  add_set("--set-a", options->set_a, "Override a setting of A only (repeatable)");
  add_set("--set-b", options->set_b, "Override a setting of B only (repeatable)");
  const Option table =
      verb.option("--table", options->table,
                  "B is a measured run of the server A: description of its table, a name in "
                  "configs/run_tables or a file")
          .type("NAME");
  verb.option("--run", options->run, "Name of the run in B, if it has several: ID or GROUP.ID")
      .type("ID");
  add_format(verb, options->format);
  verb.flag("--json", options->json, "Print JSON, like --format json")
      .excludes(verb.added("--format"));
  verb.on_chosen([options, table] {
    options->measured = table.given();
    return compare(*options);
  });
}

}  // namespace tiersim::cli
