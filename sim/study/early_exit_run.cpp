#include "sim/study/early_exit_run.hpp"

#include <cmath>
#include <future>
#include <utility>

#include <fmt/format.h>

#include "sim/runner/load.hpp"
#include "sim/serving/serve.hpp"
#include "sim/step/simulate.hpp"

namespace tiersim {
namespace {

constexpr std::int64_t kRounds = 8;  // requests of each user in a cell
// Static batches for a point of an engine: fewer for large batches, each of which gives more
// samples.
constexpr std::int64_t kMostBatches = 16;
constexpr std::int64_t kLeastBatches = 4;
constexpr std::int64_t kSequences = 512;
constexpr int kSecants = 8;
constexpr double kMet = 1e-4;  // of tokens/s
constexpr std::string_view kSolved = "solved for so that the full cell comes out";

ServingConfig load(const std::string& file, const std::vector<std::string>& set,
                   const LoadOptions& files) {
  return load_serving(config_root() / file, set, files.bases).config;
}

Duration duration_of(double seconds) {
  return Duration(std::llround(seconds * 1e12));
}

ServerHostConfig host_of(double sequence_s) {
  ServerHostConfig host;
  host.sequence = {.value = duration_of(sequence_s), .source = std::string(kSolved)};
  return host;
}

double metric(const RunRecord& record, const std::string& name) {
  const auto at = record.metrics.find(name);
  return at == record.metrics.end() ? 0 : at->second.value;
}

RunRecord served(const ServingConfig& config, const std::string& what) {
  auto record = serve(config);
  if (!record)
    throw Failure(ExitCode::bad_config,
                  fmt::format("tiersim: error: {}: {}", what, record.error()));
  return *std::move(record);
}

ExitServed served_cell(const ServingConfig& config, const std::string& what) {
  const RunRecord record = served(config, what);
  return {.tokens_per_s = metric(record, "throughput_tokens_per_s"),
          .latency_s = metric(record, "inner_token_latency_s"),
          .in_flight = metric(record, "in_flight.mean"),
          .layers = metric(record, "layers_run.mean")};
}

// Time of one decode step with `batch` sequences and all layers on the GPU.
double step_s(ServingConfig& config, std::int64_t batch, Region region) {
  ScenarioConfig& scenario = config.scenario;
  const StepConfig before = scenario.step;
  const LengthConfig& output = *config.workload.output;
  scenario.step.batch = batch;
  scenario.step.context = std::max<std::int64_t>(
      1, output.tokens > 0 ? output.tokens / 2 : (output.min + output.max) / 4);
  scenario.step.encoder_context = config.workload.input->tokens;
  scenario.step.region = region;
  const auto simulated = simulate(scenario, Evaluation::times, Provenance::classes);
  scenario.step = before;
  if (!simulated)
    throw Failure(ExitCode::bad_config,
                  fmt::format("tiersim: error: {}: {}", scenario.name, simulated.error()));
  return metric(simulated->record, "step_time_s");
}

// The cells of one model.
class ModelCells {
 public:
  ModelCells(const EarlyExitTargets& targets, const ExitModel& model, const LoadOptions& files)
      : targets_(targets), model_(model), config_(load(model.serving, files.overrides, files)) {
    shipped_ = config_.server.host;
  }

  ExitModelRuns run() {
    ExitModelRuns out{.layers = config_.scenario.model.layers, .cells = {}};
    const ExitCell& full = model_.cells.front();
    enter(full, 0);
    out.host_sequence_s = host_of_full(full);
    const auto users = static_cast<std::int64_t>(std::llround(in_flight(full)));
    out.step_s = step_s(config_, users, Region::step);
    out.layers_s = step_s(config_, users, Region::layers);
    for (const ExitCell& cell : model_.cells) out.cells.push_back(cell_runs(cell, out));
    return out;
  }

 private:
  ExitCellRuns cell_runs(const ExitCell& cell, const ExitModelRuns& model) {
    ExitCellRuns out;
    out.users = static_cast<std::int64_t>(std::llround(in_flight(cell)));
    const std::size_t runs = measures(cell.technique) ? targets_.correlations.size() : 1;
    const std::string what = model_.label + ' ' + name_of(cell);
    for (std::size_t i = 0; i < runs; ++i) {
      enter(cell, targets_.correlations[i]);
      config_.server.host = host_of(std::max(0.0, model.host_sequence_s));
      out.own.push_back(served_cell(config_, what));
      config_.server.host = host_of(0);
      out.alone.push_back(served_cell(config_, what));
      config_.server.host = shipped_;
      out.shipped.push_back(served_cell(config_, what));
    }
    return out;
  }

  // As many users as the cell has sequences in flight, with one request each at a time.
  void enter(const ExitCell& cell, double correlation) {
    const auto users = static_cast<std::int64_t>(std::llround(in_flight(cell)));
    config_.workload.arrivals =
        ArrivalConfig{.process = ArrivalProcess::closed_loop, .users = users};
    config_.workload.requests = kRounds * users;
    config_.server.scheduler.max_sequences = users;
    config_.early_exit = EarlyExitConfig{.technique = cell.technique};
    if (cell.exit_rate)
      config_.early_exit->depths = ExitDepthConfig{
          .exit_rate = cell.exit_rate, .spread = targets_.spread, .correlation = correlation};
  }

  // The time of a token is nearly linear in the host's time a sequence; the composition of batches
  // adds a slight curvature.
  double host_of_full(const ExitCell& full) {
    const auto off = [&](double sequence_s) {
      config_.server.host = host_of(std::max(0.0, sequence_s));
      return 1 / served_cell(config_, model_.label).tokens_per_s - 1 / full.tokens_per_s;
    };
    double before = 0;
    double off_before = off(before);
    double now = 1 / full.tokens_per_s;
    for (int i = 0; i < kSecants; ++i) {
      const double off_now = off(now);
      if (std::abs(off_now) * full.tokens_per_s < kMet || off_now == off_before) break;
      const double next = now - off_now * (now - before) / (off_now - off_before);
      before = std::exchange(now, next);
      off_before = off_now;
      if (now < 0) break;
    }
    return now;
  }

  const EarlyExitTargets& targets_;
  const ExitModel& model_;
  ServingConfig config_;
  ServerHostConfig shipped_;
};

// Static batches, which no sequence joins or leaves during a step.
void make_batches(ServingConfig& config, std::int64_t batch, std::int64_t output_tokens) {
  const std::int64_t input = config.workload.input->tokens;
  config.workload.arrivals = ArrivalConfig{.process = ArrivalProcess::at_once};
  config.workload.output = LengthConfig{.tokens = output_tokens};
  config.workload.requests = batch * std::clamp(kSequences / batch, kLeastBatches, kMostBatches);
  config.server.scheduler = {.policy = SchedulerPolicy::static_batch,
                             .max_sequences = batch,
                             .max_batched_tokens = batch * input};
  config.measure = {.warm_up = 0};
}

class BatchSweepPoints {
 public:
  BatchSweepPoints(const BatchSweep& engine, const LoadOptions& files) : engine_(engine) {
    for (const ExitCase& one : engine.cases) {
      std::vector<std::string> all = files.overrides;
      all.insert(all.end(), engine.set.begin(), engine.set.end());
      all.insert(all.end(), one.set.begin(), one.set.end());
      configs_.push_back(load(engine.serving, all, files));
      configs_.back().early_exit = one.exit;
    }
  }

  BatchSweepResult run() {
    BatchSweepResult result{
        .engine = engine_, .layers = configs_.front().scenario.model.layers, .points = {}};
    for (std::size_t c = 0; c < engine_.correlations.size(); ++c)
      for (std::size_t b = 0; b < engine_.batches.size(); ++b)
        for (std::size_t k = 0; k < engine_.cases.size(); ++k) {
          const bool same = c > 0 && !measures(engine_.cases[k].exit.technique);
          result.points.push_back(same ? result.at(0, b, k) : point(c, b, k));
        }
    return result;
  }

 private:
  ExitPoint point(std::size_t correlation, std::size_t batch, std::size_t which) {
    ServingConfig& config = configs_[which];
    make_batches(config, engine_.batches[batch], engine_.output_tokens);
    if (config.early_exit->depths)
      config.early_exit->depths->correlation = engine_.correlations[correlation];
    const auto record = serve(config);
    if (!record) return {.problem = record.error()};
    // A static batch that does not fit is made smaller.
    if (const double size = metric(*record, "batch_size.mean");
        std::llround(size) < engine_.batches[batch])
      return {.problem = fmt::format("{:.0f} sequences fit", size)};
    return {.step_s = metric(*record, "inter_token_latency_s.mean"),
            .tokens_per_s = metric(*record, "throughput_tokens_per_s"),
            .layers = metric(*record, "layers_run.mean")};
  }

  const BatchSweep& engine_;
  std::vector<ServingConfig> configs_;
};

}  // namespace

// Models and engines share nothing, so that each may run on a core of its own.
CellResults run_cells(const EarlyExitTargets& targets, const LoadOptions& files) {
  std::vector<std::future<ExitModelRuns>> models;
  for (const ExitModel& model : targets.models)
    models.push_back(
        std::async(std::launch::async, [&] { return ModelCells(targets, model, files).run(); }));
  CellResults out{.targets = targets, .models = {}};
  for (auto& model : models) out.models.push_back(model.get());
  return out;
}

BatchSweepResult run_engine(const BatchSweep& engine, const LoadOptions& files) {
  return BatchSweepPoints(engine, files).run();
}

std::vector<ReportSection> reproduce_early_exit(const Targets& targets, const LoadOptions& files) {
  if (!targets.early_exit) return {};
  std::vector<std::future<ReportSection>> engines;
  for (const BatchSweep& engine : targets.early_exit->engines)
    engines.push_back(
        std::async(std::launch::async, [&] { return section_of(run_engine(engine, files)); }));
  std::vector<ReportSection> out{section_of(run_cells(*targets.early_exit, files))};
  for (auto& engine : engines) out.push_back(engine.get());
  return out;
}

}  // namespace tiersim
