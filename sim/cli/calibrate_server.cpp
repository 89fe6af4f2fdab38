#include "sim/cli/calibrate_server.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <span>

#include <fmt/format.h>

#include "reports/calibration/server_fit_text.hpp"
#include "reports/render/table.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units_text.hpp"
#include "sim/cli/measured_runs.hpp"
#include "sim/cli/point_sources.hpp"
#include "sim/runner/files.hpp"
#include "sim/runner/load.hpp"
#include "sim/validate/server_fit.hpp"

namespace tiersim::cli {
namespace {

constexpr std::int64_t kLeastRuns = 3;

struct CalibrateServerArguments {
  RunTableOptions tables;
  std::vector<std::string> times;
  std::string output;
  std::int64_t jobs = 0;
  bool json = false;
};

struct HostTime {
  std::string_view name;
  Sourced<Duration> ServerHostConfig::*member;
  double step;  ///< smallest change with an effect that a run shows [s]
};
constexpr std::array<HostTime, 8> kHostTimes{
    {{"iteration", &ServerHostConfig::iteration, 1e-4},
     {"sequence", &ServerHostConfig::sequence, 2e-6},
     {"launch", &ServerHostConfig::launch, 1e-6},
     {"eager_launch", &ServerHostConfig::eager_launch, 1e-6},
     {"sync", &ServerHostConfig::sync, 1e-4},
     {"sync_sequence", &ServerHostConfig::sync_sequence, 2e-6},
     {"request", &ServerHostConfig::request, 1e-3},
     {"prompt_token", &ServerHostConfig::prompt_token, 5e-7}}};

std::vector<std::string> names_of(std::span<const HostTime> times) {
  std::vector<std::string> out;
  for (const HostTime& time : times) out.emplace_back(time.name);
  return out;
}

std::vector<HostTime> host_times(const std::vector<std::string>& names) {
  std::vector<HostTime> out;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(kHostTimes, name, &HostTime::name);
    if (found == kHostTimes.end())
      throw Failure(
          ExitCode::usage,
          fmt::format("tiersim: error: --time '{}': server.host has no such time (one of: "
                      "{})",
                      printable(name), join(names_of(kHostTimes))));
    if (std::ranges::find(out, found->name, &HostTime::name) == out.end()) out.push_back(*found);
  }
  return out;
}

// Throughput says nothing that the times of a closed loop do not say.
bool counts(PublishedMetric metric, const PublishedRun& run) {
  if (metric == PublishedMetric::energy || metric == PublishedMetric::power ||
      metric == PublishedMetric::hit_rate)
    return false;
  return metric != PublishedMetric::throughput || !run.published.tpot;
}

std::vector<FittedValue> values_of(const std::vector<MeasuredRun>& measured) {
  std::vector<FittedValue> out;
  for (const MeasuredRun& each : measured)
    for (const PublishedMetric metric : kPublishedMetrics)
      if (each.run->published.value(metric) && counts(metric, *each.run))
        out.push_back({each.group->id + "." + each.run->id, std::string(name_of(metric))});
  return out;
}

// One server has one time of each kind: the first run tells them. Throws Failure with every run of
// another server.
void expect_one_server(const std::vector<MeasuredRun>& measured,
                       const std::vector<HostTime>& times) {
  const ServerHostConfig& first = measured.front().config.server.host;
  Diagnostics diagnostics;
  for (const MeasuredRun& each : measured) {
    const ServerHostConfig& host = each.config.server.host;
    for (const HostTime& time : times)
      if ((host.*time.member).value != (first.*time.member).value)
        diagnostics.report(at_row(
            *each.run,
            {.where = {},
             .message = fmt::format(
                 "the server of this run has host.{} of {}, and that of {} has {}: they are two "
                 "servers (--only GROUP names the runs of one)",
                 time.name, format_quantity((host.*time.member).value), measured.front().run->at,
                 format_quantity((first.*time.member).value))}));
  }
  throw_if_any(diagnostics);
}

ServerFit fit(const PublishedRuns& runs, std::vector<MeasuredRun>& measured,
              const std::vector<HostTime>& times, std::int64_t jobs) {
  const LogErrors errors =
      [&](const std::vector<double>& seconds) -> Expected<std::vector<double>> {
    for (MeasuredRun& each : measured)
      for (std::size_t j = 0; j < times.size(); ++j)
        (each.config.server.host.*times[j].member).value =
            Duration(std::llround(seconds[j] * 1e12));
    std::vector<double> out;
    for (const PublishedOutcome& outcome : simulate(runs, measured, jobs)) {
      if (!outcome.problem.empty())
        return Unexpected(
            fmt::format("{}.{}: {}", outcome.group->id, outcome.run->id, outcome.problem));
      for (const PublishedCase& each : outcome.cases)
        if (counts(each.metric, *outcome.run))
          out.push_back(std::log(each.predicted / each.reference));
    }
    return out;
  };
  const ServerHostConfig& host = measured.front().config.server.host;
  std::vector<FreeTime> free;
  for (const HostTime& time : times)
    free.push_back({std::string(time.name), to_seconds((host.*time.member).value), time.step});
  auto fitted = fit_times(free, errors);
  if (!fitted)
    throw Failure(ExitCode::points_failed, "tiersim: error: " + printable(fitted.error()));
  return *std::move(fitted);
}

// Without folders, so that the written file does not depend on where the runs lie.
std::string name_of(const std::string& file) {
  return printable(std::filesystem::path(file).filename().string());
}

// Returns the command line that writes the same file from the same runs. Files are named without
// their folders.
std::string command_of(const CalibrateServerArguments& options) {
  std::string out = "tiersim calibrate server";
  for (const std::string& file : options.tables.files) out += ' ' + shell_word(name_of(file));
  if (!options.tables.table.empty()) out += " --table " + shell_word(name_of(options.tables.table));
  if (!options.tables.config.empty())
    out += " --config " + shell_word(name_of(options.tables.config));
  for (const std::string& only : options.tables.only) out += " --only " + shell_word(only);
  for (const std::string& set : options.tables.set) out += " --set " + shell_word(set);
  for (const std::string& time : options.times) out += " --time " + time;
  return printable(out);
}

ExitCode calibrate_server(const CalibrateServerArguments& options) {
  if (options.tables.files.empty())
    throw Failure(ExitCode::usage, "tiersim: error: name a table of runs: FILE");
  if (!options.output.empty()) expect_writable(options.output);
  const std::vector<HostTime> times = host_times(
      options.times.empty() ? std::vector<std::string>{"sync", "sync_sequence", "request"}
                            : options.times);
  const PublishedRuns runs = read_tables_of_runs(options.tables);
  std::vector<MeasuredRun> measured = configured_runs(runs, options.tables.set);
  const std::vector<FittedValue> values = values_of(measured);
  if (std::ssize(measured) < kLeastRuns || values.size() <= times.size())
    throw Failure(ExitCode::bad_config,
                  fmt::format("{}:1:1: error: {} runs with {} measured values do not tell {} times "
                              "(at least {} runs, and more values than times: --time names fewer)",
                              printable(options.tables.files.front()), measured.size(),
                              values.size(), times.size(), kLeastRuns));
  expect_one_server(measured, times);
  const ServerFit fitted = fit(runs, measured, times, options.jobs);
  if (std::ranges::none_of(fitted.times, &FittedTime::determined))
    throw Failure(ExitCode::bad_config,
                  fmt::format("{}:1:1: error: these runs tell none of the times ({})",
                              printable(options.tables.files.front()), join(names_of(times))));
  if (options.json) {
    fmt::print("{}", server_fit_json(fitted, values));
  } else {
    for (const Table& table : server_fit_tables(fitted, values)) fmt::print("{}\n", to_text(table));
  }
  if (options.output.empty()) return ExitCode::ok;
  std::vector<std::string> files;
  for (const std::string& file : options.tables.files) files.push_back(name_of(file));
  write_file(options.output, server_fit_yaml(fitted, command_of(options),
                                             fmt::format("fitted to {} measured runs of {}",
                                                         measured.size(), join(files))));
  return ExitCode::ok;
}

}  // namespace

void add_calibrate_server(Verb calibrate) {
  auto options = std::make_shared<CalibrateServerArguments>();
  Verb verb =
      calibrate.add("server", "Fit times of a server's CPU to a few measured runs of that server");
  verb.footer(
      "Three to five runs at different loads tell the times that every iteration and every "
      "request\n"
      "takes. What comes out is a fit: it says nothing of how well other runs are predicted.");
  add_run_tables(verb, options->tables, "Tables of runs, or JSON results of benchmarks");
  verb.option("--time", options->times,
              "Time of server.host to fit; sync, sync_sequence and request by default (repeatable)")
      .type("NAME");
  verb.option("-o,--output", options->output,
              "Write the fitted times as a file for the `base` of the server")
      .type("FILE.yaml");
  verb.option("-j,--jobs", options->jobs, "Number of runs at a time; 0 is one for each core")
      .between(0, 1024);
  verb.flag("--json", options->json, "Print JSON instead of tables");
  verb.on_chosen([options] { return calibrate_server(*options); });
}

}  // namespace tiersim::cli
