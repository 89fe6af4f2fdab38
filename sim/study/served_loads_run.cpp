#include "sim/study/served_loads_run.hpp"

#include <algorithm>
#include <array>
#include <future>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "sim/runner/load.hpp"
#include "sim/serving/kv_layout.hpp"
#include "sim/serving/serve.hpp"
#include "sim/step/costs.hpp"
#include "sim/step/simulate.hpp"

namespace tiersim {
namespace {

// Tokens of an answer: enough that most gaps lie after the last hand-over.
constexpr std::int64_t kAnswer = 64;
// A server with fewer running sequences than seats is another one than was published.
constexpr double kLeastFilled = 0.9;
constexpr std::int64_t kMostSeats = 4096;

// Settings that a run of this table sets itself, so that a cell cannot.
constexpr std::array<std::string_view, 8> kOwnSettings{"workload.requests",
                                                       "workload.arrivals",
                                                       "workload.input",
                                                       "workload.output",
                                                       "server.scheduler.max_sequences",
                                                       "server.disaggregation",
                                                       "system.gpus",
                                                       "step.batch"};

// Those of the command, of the server, of the load and of the choice, the later above the earlier.
std::vector<std::string> settings(const LoadedServer& server, const OpenChoice& choice,
                                  const ServedLoad& load, const LoadOptions& files) {
  std::vector<std::string> out = files.overrides;
  const auto add = [&out](const std::vector<std::string>& set) {
    out.insert(out.end(), set.begin(), set.end());
  };
  const auto add_own = [&](const std::map<std::string, std::vector<std::string>>& set_of) {
    if (const auto own = set_of.find(server.label); own != set_of.end()) add(own->second);
  };
  add(server.set);
  add(load.set);
  add_own(load.set_of);
  add(choice.set);
  add_own(choice.set_of);
  return out;
}

// The lengths of a load are printed; all else of `kOwnSettings` would be overwritten.
void expect_no_own_settings(const OpenChoice& choice) {
  std::vector<std::string> all = choice.set;
  for (const auto& [label, set] : choice.set_of) all.insert(all.end(), set.begin(), set.end());
  for (const std::string& one : all)
    for (const std::string_view own : kOwnSettings)
      if (one.starts_with(own))
        throw Failure(ExitCode::bad_config,
                      fmt::format("tiersim: error: cell '{}' sets {}, which the table sets itself",
                                  choice.label, own));
}

ServingConfig load(const LoadedServer& server, const std::vector<std::string>& set,
                   const LoadOptions& files) {
  return load_serving(config_root() / server.serving, set, files.bases).config;
}

double named_metric(const RunRecord& record, const std::string& name) {
  const auto at = record.metrics.find(name);
  return at == record.metrics.end() ? 0 : at->second.value;
}

[[noreturn]] void fail(const std::string& what, std::int64_t running, const std::string& why) {
  throw Failure(ExitCode::bad_config,
                fmt::format("tiersim: error: {}, {} sequences: {}", what, running, why));
}

// The middle of the file's answers.
void shorten_answers(WorkloadConfig& workload, const std::string& what) {
  if (!workload.input || !workload.output || workload.output->tokens < kAnswer)
    throw Failure(ExitCode::bad_config,
                  fmt::format("tiersim: error: {} needs workload.input and workload.output of "
                              "one length each, of at least {} tokens out",
                              what, kAnswer));
  workload.input->tokens += (workload.output->tokens - kAnswer) / 2;
  workload.output->tokens = kAnswer;
}

// The last replica decodes one sequence for each seat, and every other one reads the prompt of one
// of them.
LoadRun run_server(ServingConfig config, const std::string& what, std::int64_t running) {
  if (!config.scenario.system.fabrics.contains("transfer"))
    fail(what, running, "the system has no fabric 'transfer' to hand prompts over by");
  shorten_answers(config.workload, what);
  config.workload.arrivals = ArrivalConfig{.process = ArrivalProcess::at_once};
  config.workload.requests = running;
  config.measure = {.warm_up = 0};
  config.server.scheduler.max_sequences = running;
  config.server.disaggregation = DisaggregationConfig{.prefill_replicas = running};
  GpusConfig& gpus = config.scenario.system.gpus;
  gpus.count = config.scenario.parallel.devices() * (running + 1);
  gpus.hosts = running + 1;
  const auto record = serve(config);
  if (!record) fail(what, running, record.error());
  const double gap = named_metric(*record, "inter_token_latency_s.p50");
  const double mean = named_metric(*record, "batch_size.mean");
  if (gap <= 0 || mean < kLeastFilled * static_cast<double>(running))
    fail(what, running, fmt::format("{:.1f} of them decode at a time", mean));
  return {.running = running,
          .tokens_per_s = static_cast<double>(running) / gap,
          .gap_s = gap,
          .batch = mean};
}

LoadRun run_step(const ScenarioConfig& config, const std::string& what) {
  const std::int64_t running = config.step.batch;
  const auto simulated = simulate(config, Evaluation::times, Provenance::classes);
  if (!simulated) fail(what, running, simulated.error());
  return {.running = running,
          .tokens_per_s = named_metric(simulated->record, "throughput_tokens_per_s"),
          .gap_s = named_metric(simulated->record, "step_time_s"),
          .batch = static_cast<double>(running)};
}

// A way of the table in one cell. Loads with the same settings and as many running sequences are
// one run.
class LoadRuns {
 public:
  LoadRuns(const LoadedServer& server, const OpenChoice& cell, const LoadOptions& files)
      : what_(server.label + ", " + cell.label), server_(server), cell_(cell), files_(files) {}

  LoadRun at(const ServedLoad& load, std::size_t server) {
    const std::int64_t printed = load.running.empty() ? 0 : load.running[server];
    std::vector<std::string> set = settings(server_, cell_, load, files_);
    LoadRun& known = known_[{printed > 0 ? printed : -load.users, set}];
    if (known.running == 0) known = run(set, load.users, printed);
    return known;
  }

 private:
  LoadRun run(std::vector<std::string> set, std::int64_t users, std::int64_t printed) const {
    if (server_.scenario.empty()) {
      const std::int64_t running = printed > 0 ? printed : std::min(users, seats(set));
      return run_server(load(server_, set, files_), what_, running);
    }
    const std::filesystem::path path = config_root() / server_.scenario;
    if (printed > 0) set.push_back(fmt::format("step.batch={}", printed));
    ScenarioConfig config = load_scenario(path, set, files_.bases).config;
    if (printed == 0)
      config.step.batch = std::min(users, largest_batch(config, build_system(config)));
    return run_step(config, what_);
  }

  std::int64_t seats(const std::vector<std::string>& set) const {
    const std::int64_t all = seats_of(load(server_, set, files_));
    if (all == 0) fail(what_, 1, "not one of full length fits");
    return all;
  }

  std::string what_;
  const LoadedServer& server_;
  const OpenChoice& cell_;
  const LoadOptions& files_;
  std::map<std::pair<std::int64_t, std::vector<std::string>>, LoadRun> known_;
};

std::vector<LoadRun> runs_of(const ServedLoadTargets& targets, std::size_t server,
                             const OpenChoice& cell, const LoadOptions& files) {
  LoadRuns runs(targets.servers[server], cell, files);
  std::vector<LoadRun> out;
  for (const ServedLoad& load : targets.loads) out.push_back(runs.at(load, server));
  return out;
}

bool fit(ServingConfig& config, std::int64_t sequences, std::int64_t positions) {
  config.server.scheduler.max_sequences = sequences;
  const auto layout = kv_layout(config, build_stage_system(config.scenario));
  return layout && layout->blocks / layout->blocks_of(positions) >= sequences;
}

}  // namespace

std::int64_t seats_of(ServingConfig config) {
  if (!config.workload.input || !config.workload.output)
    throw Failure(ExitCode::bad_config,
                  fmt::format("tiersim: error: {}: a count of seats needs workload.input and "
                              "workload.output",
                              config.scenario.name));
  const std::int64_t positions = most_of(*config.workload.input) + most_of(*config.workload.output);
  std::int64_t holds = 0;
  std::int64_t too_many = kMostSeats + 1;
  while (too_many - holds > 1) {
    const std::int64_t asked = holds + (too_many - holds) / 2;
    (fit(config, asked, positions) ? holds : too_many) = asked;
  }
  return holds;
}

ServedLoadResults run_served_loads(const ServedLoadTargets& targets, const LoadOptions& files) {
  for (const OpenChoice& cell : targets.cells) expect_no_own_settings(cell);
  const std::size_t servers = targets.servers.size();
  std::vector<std::future<std::vector<LoadRun>>> runs;
  for (const OpenChoice& cell : targets.cells)
    for (std::size_t s = 0; s < servers; ++s)
      runs.push_back(
          std::async(std::launch::async, [&, s] { return runs_of(targets, s, cell, files); }));
  ServedLoadResults out{.targets = targets, .runs = {}, .seats = {}};
  for (const OpenChoice& room : targets.seats ? targets.seats->rooms : std::vector<OpenChoice>{})
    for (const LoadedServer& server : targets.servers)
      out.seats.push_back(seats_of(load(server, settings(server, room, {}, files), files)));
  std::vector<std::vector<LoadRun>> by_load;
  for (auto& of_server : runs) by_load.push_back(of_server.get());
  for (std::size_t c = 0; c < targets.cells.size(); ++c)
    for (std::size_t l = 0; l < targets.loads.size(); ++l)
      for (std::size_t s = 0; s < servers; ++s) out.runs.push_back(by_load[c * servers + s][l]);
  return out;
}

std::vector<ReportSection> reproduce_served_loads(const Targets& targets,
                                                  const LoadOptions& files) {
  std::vector<ReportSection> out;
  for (const ServedLoadTargets& one : targets.served_loads)
    out.push_back(section_of(run_served_loads(one, files)));
  return out;
}

}  // namespace tiersim
