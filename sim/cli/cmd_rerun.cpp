// tiersim rerun RECORD: the same configuration again; the results must be the same numbers.
#include <algorithm>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "reports/render/table.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/command.hpp"
#include "sim/cli/loading.hpp"
#include "sim/run/serving/serve.hpp"
#include "sim/run/simulate.hpp"
#include "sim/run/version.hpp"

namespace tiersim::cli {
namespace {

struct Options {
  std::string record;
  bool json = false;
};

// The configuration as a part of the record's own text, so that a mistake has its place there.
Document config_of(const std::string& record, const std::string& path, Diagnostics& diagnostics) {
  const Document whole = load_text(record, path, standard_options(), diagnostics);
  const Entry* config = whole.root().find("config");
  return config == nullptr ? Document() : Document(config->value);
}

template <class Config>
Config read_config(const Document& document, const char* kind, Diagnostics& diagnostics,
                   const RecordOrigin& origin) {
  auto config = read<Config>(document, kind, diagnostics);
  if (!diagnostics.ok())
    fmt::print(stderr,
               "tiersim: error: the configuration of a record of tiersim {} is none of tiersim "
               "{}:\n",
               printable(origin.tiersim_version), kVersion);
  throw_if_any(diagnostics);
  return config;
}

// The record of its configuration now; the error is why there is none.
Expected<RunRecord> run_again(const std::string& record, const std::string& path,
                              const RecordOrigin& origin) {
  Diagnostics diagnostics;
  const Document document = config_of(record, path, diagnostics);
  if (document.root().find("workload") != nullptr)
    return serve(read_config<ServingConfig>(document, "serving", diagnostics, origin));
  auto result = simulate(read_config<ScenarioConfig>(document, "scenario", diagnostics, origin),
                         Readings::all);
  if (!result) return Unexpected(result.error());
  return (*std::move(result)).record;
}

void print_json(const std::vector<Difference>& all, const RecordOrigin& before,
                const RunRecord& now) {
  using Json = nlohmann::ordered_json;
  const auto value = [](const std::string& text) {
    return text.empty() ? Json() : Json::parse(text);
  };
  Json list = Json::array();
  for (const Difference& d : all)
    list.push_back({{"result", d.name}, {"record", value(d.before)}, {"now", value(d.now)}});
  const Json out{
      {"same", all.empty()},
      {"tiersim_version", {{"record", before.tiersim_version}, {"now", now.tiersim_version}}},
      {"run_id", {{"record", before.run_id}, {"now", now.run_id}}},
      {"differences", std::move(list)}};
  fmt::print("{}\n", out.dump(2));
}

void print_text(const std::vector<Difference>& all, const RunRecord& now) {
  if (all.empty()) {
    fmt::print("same results: {}\n", now.run_id);
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

ExitCode rerun(const Options& options) {
  const std::string old_record = read_file(options.record);
  const auto failure = [&](const std::string& text) {
    return Failure(ExitCode::bad_config,
                   printable(fmt::format("{}:1:1: error: {}", options.record, text)));
  };
  const auto origin = origin_of_record(old_record);
  if (!origin) throw failure(origin.error());
  const auto result = run_again(old_record, options.record, *origin);
  if (!result) throw failure(result.error());
  const RunRecord& now = *result;
  const auto all = differences(old_record, to_json(now));
  if (options.json)
    print_json(all, *origin, now);
  else
    print_text(all, now);
  if (origin->run_id != "unknown" && origin->run_id != now.run_id)
    fmt::print(stderr,
               "tiersim: the configuration is not the one that was run: its id is {} and the "
               "record's {}; it was edited, or has settings that are new\n",
               now.run_id.substr(0, 12), printable(origin->run_id.substr(0, 12)));
  if (all.empty()) return ExitCode::ok;
  fmt::print(stderr,
             "tiersim: error: {} of the results differ: the record is of tiersim {}, this is {}\n",
             all.size(), printable(origin->tiersim_version), now.tiersim_version);
  return ExitCode::target_missed;
}

}  // namespace

void add_rerun(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "rerun", "Run a record again and compare its results; exit 5 when they differ");
  verb->add_option("RECORD", options->record, "Record as written by `run --json` or `run -o`")
      ->required();
  verb->add_flag("--json", options->json, "Print the differences as JSON");
  verb->callback([options, &action] { action = [options] { return rerun(*options); }; });
}

}  // namespace tiersim::cli
