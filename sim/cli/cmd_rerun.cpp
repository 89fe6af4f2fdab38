// tiersim rerun RECORD: runs the configuration of a record or stored point again; the results must
// be the same numbers.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/render/table.hpp"
#include "sim/base/text.hpp"
#include "sim/base/version.hpp"
#include "sim/cli/command_line.hpp"
#include "sim/cli/stored_points.hpp"
#include "sim/record/record_reader.hpp"
#include "sim/runner/load.hpp"
#include "sim/runner/runnable.hpp"
#include "sim/sweep/evaluate.hpp"
#include "sim/sweep/sweep_plan.hpp"

namespace tiersim::cli {
namespace {

using Json = nlohmann::ordered_json;

struct RerunArguments {
  std::string record;
  bool json = false;
};

struct Rerun {
  RecordOrigin before;
  std::string record;  // JSON of the record, or of its results alone
  std::string now;     // the same for the new run
  std::string run_id;  // of the new run
};

// The configuration as a part of the record's own text, which gives mistakes a place in it.
Document config_of(const std::string& record, const std::string& path, Diagnostics& diagnostics) {
  const Document whole = load_text(record, path, standard_options(), diagnostics);
  const Entry* config = whole.root().find("config");
  return config == nullptr ? Document() : Document(config->value);
}

// The new record of its configuration; the error is the reason for none.
Expected<RunRecord> run_again(const std::string& record, const std::string& path,
                              const RecordOrigin& origin) {
  Diagnostics diagnostics;
  const Document document = config_of(record, path, diagnostics);
  const Runnable config = read_runnable(document, diagnostics);
  if (!diagnostics.ok())
    fmt::print(stderr,
               "tiersim: error: the configuration of a record of tiersim {} is none of tiersim "
               "{}:\n",
               printable(origin.tiersim_version), kVersion);
  throw_if_any(diagnostics);
  return run(config);
}

void print_json(const std::vector<Difference>& all, const Rerun& both) {
  const auto value = [](const std::string& text) {
    return text.empty() ? Json() : Json::parse(text);
  };
  Json list = Json::array();
  for (const Difference& d : all)
    list.push_back({{"result", d.name}, {"record", value(d.before)}, {"now", value(d.now)}});
  const Json out{{"same", all.empty()},
                 {"tiersim_version", {{"record", both.before.tiersim_version}, {"now", kVersion}}},
                 {"run_id", {{"record", both.before.run_id}, {"now", both.run_id}}},
                 {"differences", std::move(list)}};
  fmt::print("{}\n", out.dump(2));
}

void print_text(const std::vector<Difference>& all, const std::string& run_id) {
  if (all.empty()) {
    fmt::print("same results: {}\n", run_id);
    return;
  }
  constexpr std::size_t kMost = 40;
  Table table{.title = "", .columns = {{"result", Align::left}, {"record"}, {"now"}}};
  const auto shown = [](const std::string& text) { return text.empty() ? "-" : text; };
  for (std::size_t i = 0; i < std::min(all.size(), kMost); ++i)
    table.add(
        {printable(all[i].name), shown(printable(all[i].before)), shown(printable(all[i].now))});
  if (all.size() > kMost)
    table.notes.push_back(fmt::format("and {} more (--json)", all.size() - kMost));
  fmt::print("{}", to_text(table));
}

// Runs a point of a store with the inputs that were stored at the start of its sweep.
Rerun rerun_point(const StoredPointName& name) {
  SweepStore store(name.store, SweepStore::Access::read);
  const FoundPoint found = find_point(store, name);
  const PointOutcome& outcome = found.point.outcome;
  const auto fail = [](const std::string& text) {
    throw Failure(ExitCode::bad_config, printable("tiersim: error: the point " + text));
  };
  if (outcome.status != PointStatus::ok) fail("has no results: " + outcome.problem);
  PointLoader loader(standard_options());
  adopt_inputs(loader, store.inputs(found.sweep.sweep));
  const auto [reading, keep] = extent_of(found.sweep);
  const PointOutcome now = evaluate(read_point(loader, point_of(found.point.point)), reading, keep);
  if (now.status != PointStatus::ok) fail("cannot run now: " + now.problem);
  const auto whole = [](const std::string& results) { return "{\"results\":" + results + '}'; };
  return {{found.sweep.version, outcome.id}, whole(outcome.results), whole(now.results), now.id};
}

Rerun rerun_record(const std::string& file) {
  Rerun out;
  out.record = read_file(file);
  const auto failure = [&](const std::string& text) {
    return Failure(ExitCode::bad_config, printable(fmt::format("{}:1:1: error: {}", file, text)));
  };
  const auto origin = origin_of_record(out.record);
  if (!origin) throw failure(origin.error());
  out.before = *origin;
  const auto result = run_again(out.record, file, *origin);
  if (!result) throw failure(result.error());
  out.now = to_json(*result);
  out.run_id = result->run_id;
  return out;
}

ExitCode rerun(const RerunArguments& options) {
  const auto point = stored_point_name(options.record);
  if (!point && SweepStore::is_store(options.record))
    throw Failure(ExitCode::usage,
                  printable(fmt::format("tiersim: error: '{0}' is a store; of its points one is "
                                        "'{0}:17', another '{0}:3fa9c1' (run id)",
                                        options.record)));
  const Rerun both = point ? rerun_point(*point) : rerun_record(options.record);
  const auto all = differences(both.record, both.now);
  if (options.json)
    print_json(all, both);
  else
    print_text(all, both.run_id);
  const RecordOrigin& before = both.before;
  if (before.run_id != "unknown" && before.run_id != both.run_id)
    fmt::print(stderr,
               "tiersim: the configuration is not the one that was run: its id is {} and the "
               "record's {}; it was edited, or has settings that are new\n",
               both.run_id.substr(0, 12), printable(before.run_id.substr(0, 12)));
  if (all.empty()) return ExitCode::ok;
  fmt::print(stderr, "tiersim: error: {} of the results differ{}\n", all.size(),
             before.tiersim_version == kVersion
                 ? ""
                 : fmt::format(": the record is of tiersim {}, this is {}",
                               printable(before.tiersim_version), kVersion));
  return ExitCode::target_missed;
}

}  // namespace

void add_rerun(Verb program) {
  auto options = std::make_shared<RerunArguments>();
  Verb verb = program.add(
      "rerun", "Run a record again and compare the results; the exit status is 5 if they differ");
  verb.option(
          "RECORD", options->record,
          "Record of `run --json`, or a point of a store by position or run id: DB:17, DB:3fa9c1")
      .required();
  verb.flag("--json", options->json, "Print the differences as JSON");
  verb.on_chosen([options] { return rerun(*options); });
}

}  // namespace tiersim::cli
