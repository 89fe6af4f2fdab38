#include "sim/study/served_loads_run.hpp"

#include <algorithm>
#include <future>
#include <map>

#include <fmt/format.h>

#include "sim/runner/load.hpp"
#include "sim/serving/kv_layout.hpp"
#include "sim/serving/serve.hpp"
#include "sim/step/costs.hpp"

namespace tiersim {
namespace {

// Tokens of an answer: enough that most gaps lie after the last hand-over.
constexpr std::int64_t kAnswer = 64;
// A server with fewer running sequences than seats is another one than was published.
constexpr double kLeastFilled = 0.9;
constexpr std::int64_t kMostSeats = 4096;

ServingConfig load(const LoadedServer& server, const OpenChoice& choice, const LoadOptions& files) {
  std::vector<std::string> set = files.overrides;
  set.insert(set.end(), choice.set.begin(), choice.set.end());
  if (const auto own = choice.set_of.find(server.label); own != choice.set_of.end())
    set.insert(set.end(), own->second.begin(), own->second.end());
  return load_serving(config_root() / server.serving, set, files.bases).config;
}

double named_metric(const RunRecord& record, const std::string& name) {
  const auto at = record.metrics.find(name);
  return at == record.metrics.end() ? 0 : at->second.value;
}

// A server of the table in one cell.
class LoadRuns {
 public:
  LoadRuns(const LoadedServer& server, const OpenChoice& cell, const LoadOptions& files)
      : what_(server.label + ", " + cell.label), config_(load(server, cell, files)) {
    WorkloadConfig& workload = config_.workload;
    if (!workload.input || !workload.output || workload.output->tokens < kAnswer)
      throw Failure(
          ExitCode::bad_config,
          fmt::format("tiersim: error: {}: {} needs workload.input and workload.output of "
                      "one length each, of at least {} tokens out",
                      what_, server.serving, kAnswer));
    workload.input->tokens += (workload.output->tokens - kAnswer) / 2;
    workload.output->tokens = kAnswer;
    workload.arrivals = ArrivalConfig{.process = ArrivalProcess::at_once};
    config_.measure = {.warm_up = 0};
  }

  // Loads with as many running sequences are one run.
  const LoadRun& at(std::int64_t seats) {
    if (!known_.contains(seats)) known_[seats] = run(seats);
    return known_.at(seats);
  }

 private:
  // The last replica decodes one sequence for each seat, and every other one reads the prompt of
  // one of them. All are at the middle of the file's answers.
  LoadRun run(std::int64_t seats) {
    config_.workload.requests = seats;
    config_.server.scheduler.max_sequences = seats;
    config_.server.disaggregation = DisaggregationConfig{.prefill_replicas = seats};
    GpusConfig& gpus = config_.scenario.system.gpus;
    gpus.count = config_.scenario.parallel.devices() * (seats + 1);
    gpus.hosts = seats + 1;
    const auto record = serve(config_);
    if (!record) fail(seats, record.error());
    const double gap = named_metric(*record, "inter_token_latency_s.p50");
    const double running = named_metric(*record, "batch_size.mean");
    if (gap <= 0 || running < kLeastFilled * static_cast<double>(seats))
      fail(seats, fmt::format("{:.1f} of them decode at a time", running));
    return {.tokens_per_s = static_cast<double>(seats) / gap, .gap_s = gap, .running = running};
  }

  [[noreturn]] void fail(std::int64_t seats, const std::string& why) const {
    throw Failure(ExitCode::bad_config,
                  fmt::format("tiersim: error: {}, {} sequences: {}", what_, seats, why));
  }

  std::string what_;
  ServingConfig config_;
  std::map<std::int64_t, LoadRun> known_;
};

std::vector<LoadRun> runs_of(const ServedLoadTargets& targets, std::size_t server,
                             const OpenChoice& cell, const LoadOptions& files) {
  LoadRuns runs(targets.servers[server], cell, files);
  std::vector<LoadRun> out;
  for (const ServedLoad& of : targets.loads) out.push_back(runs.at(of.running[server]));
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
  const std::size_t servers = targets.servers.size();
  std::vector<std::future<std::vector<LoadRun>>> runs;
  for (const OpenChoice& cell : targets.cells)
    for (std::size_t s = 0; s < servers; ++s)
      runs.push_back(
          std::async(std::launch::async, [&, s] { return runs_of(targets, s, cell, files); }));
  ServedLoadResults out{.targets = targets, .runs = {}, .seats = {}};
  for (const OpenChoice& room : targets.seats.rooms)
    for (const LoadedServer& server : targets.servers)
      out.seats.push_back(seats_of(load(server, room, files)));
  std::vector<std::vector<LoadRun>> by_load;
  for (auto& of_server : runs) by_load.push_back(of_server.get());
  for (std::size_t c = 0; c < targets.cells.size(); ++c)
    for (std::size_t l = 0; l < targets.loads.size(); ++l)
      for (std::size_t s = 0; s < servers; ++s) out.runs.push_back(by_load[c * servers + s][l]);
  return out;
}

std::vector<ReportSection> reproduce_served_loads(const Targets& targets,
                                                  const LoadOptions& files) {
  if (!targets.served_loads) return {};
  return {section_of(run_served_loads(*targets.served_loads, files))};
}

}  // namespace tiersim
