#include "sim/run/simulate.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/sha256.hpp"
#include "sim/config/describe.hpp"
#include "sim/run/metrics.hpp"
#include "sim/run/version.hpp"

namespace tiersim {
namespace {

// Fills the record from the readings.
class Recorder {
 public:
  Recorder(const ScenarioConfig& config, Simulation& simulation)
      : config_(config), sim_(simulation), record_(simulation.record) {}

  void provenance() {
    record_.tiersim_version = kVersion;
    record_.name = config_.name;
    record_.config = canonical_json(config_);
    record_.run_id = sha256_hex(canonical_text_for_id(config_));
    for (const SourcedNumber& number : list_numbers(config_)) {
      record_.numbers.push_back({number.path, number.value, number.number_class, number.source});
      time_class_ = weakest(time_class_, number.number_class);
    }
  }

  void accounting() {
    const Accounting& a = sim_.accounting;
    const System& system = *sim_.system;
    for (std::size_t t = 0; t < a.footprint.size(); ++t) {
      record_.footprint_bytes[system.tier_names()[t]] = total(a.footprint[t]).in_base();
      record_.footprint_by_class[system.tier_names()[t]] = by_class(a.footprint[t]);
    }
    for (std::size_t d = 0; d < a.traffic.size(); ++d) {
      const std::string& device = system.device_names()[d];
      const auto& [read, write] = a.traffic[d];
      record_.traffic_bytes[device] = {total(read.payload).in_base(),
                                       total(write.payload).in_base()};
      record_.moved_bytes[device] = {total(read.moved).in_base(), total(write.moved).in_base()};
      record_.traffic_by_class[device] = {by_class(read.payload), by_class(write.payload)};
    }
    for (std::size_t c = 0; c < a.busy.size(); ++c)
      record_.channel_bytes[system.channels()[c].name] = a.busy[c].in_base();
    accounting_metrics();
  }

  void times() {
    const double step = to_seconds(sim_.execution.time);
    metric("step_time_s", step, time_class_);
    metric("bound_s", to_seconds(sim_.bound.time), time_class_);
    metric("throughput_tokens_per_s", static_cast<double>(sim_.graph.tokens) / step, time_class_);
    for (const Share& share : sim_.bound.shares)
      record_.bound_shares.push_back({share.cause, to_seconds(share.time)});
    record_.bounded_by = sim_.bound.shares.empty() ? "nothing" : sim_.bound.shares.front().cause;
    const auto& channels = sim_.system->channels();
    for (std::size_t c = 0; c < channels.size(); ++c)
      record_.channel_utilisation[channels[c].name] =
          to_seconds(sim_.execution.busy[c] / channels[c].capacity) / step;
    phases();
  }

 private:
  static BytesByClass by_class(const ClassBytes& bytes) {
    BytesByClass out;
    for (std::size_t c = 0; c < bytes.size(); ++c)
      if (bytes[c] > Bytes{}) out[std::string(kTensorClassNames[c])] = bytes[c].in_base();
    return out;
  }

  void metric(std::string_view name, double value, NumberClass number_class) {
    const auto* it = std::ranges::find(kMetrics, name, &MetricDefinition::name);
    TS_EXPECTS(it != kMetrics.end(), name);
    record_.metrics[std::string(name)] = {value, std::string(it->unit), number_class};
  }
  // Counted from the model's published dimensions and the method's settings.
  void counted(std::string_view name, std::int64_t value) {
    metric(name, static_cast<double>(value), NumberClass::specification);
  }

  void accounting_metrics() {
    const Accounting& a = sim_.accounting;
    const System& system = *sim_.system;
    Bytes kv;
    Bytes keys;
    for (const ClassBytes& tier : a.footprint) {
      for (std::size_t c = 0; c < tier.size(); ++c)
        if (is_kv_cache(static_cast<TensorClass>(c))) kv += tier[c];
      keys += tier[static_cast<std::size_t>(TensorClass::keys)];
    }
    // Tiers come first among the devices, in the same order.
    const auto& far = a.traffic[system.tier(config_.placement.far).index()];
    const auto& near = a.traffic[system.tier(config_.placement.near).index()];
    const bool offloaded = config_.placement.far != config_.placement.near;
    counted("kv_footprint_bytes", kv.in_base());
    counted("kv_keys_bytes", keys.in_base());
    counted("far_load_bytes", offloaded ? total(far.read.payload).in_base() : 0);
    counted("near_screening_bytes",
            near.read.payload[static_cast<std::size_t>(TensorClass::lowrank_keys)].in_base());
    counted("step_flops", a.flops.in_base());
    const std::int64_t batch = largest_batch(config_, system);
    counted("max_batch", batch);
    counted("kv_capacity_tokens", batch * config_.step.context);
  }

  void phases() {
    std::array<Duration, kPhaseNames.size()> sums{};
    for (std::size_t op = 0; op < sim_.graph.ops.size(); ++op) {
      const OpTiming& timing = sim_.execution.timings[op];
      sums[static_cast<std::size_t>(sim_.graph.ops[op].phase)] += timing.end - timing.start;
    }
    for (std::size_t p = 0; p < sums.size(); ++p)
      if (sums[p] > Duration{})
        record_.phases.push_back({std::string(kPhaseNames[p]), to_seconds(sums[p])});
  }

  const ScenarioConfig& config_;
  Simulation& sim_;
  RunRecord& record_;
  NumberClass time_class_ = NumberClass::measured;
};

std::string overflow_text(const ScenarioConfig& config, const System& system,
                          const std::vector<Overflow>& all) {
  std::string text;
  for (const Overflow& overflow : all) text += (text.empty() ? "" : "; ") + overflow.text;
  const std::int64_t batch = largest_batch(config, system);
  if (batch == 0) return text + "; not even one sequence fits at this context";
  return fmt::format("{}; the largest batch that fits is {}", text, batch);
}

// The engine counts a flow of up to 2^53 B and a time of up to 106 days; half of that is kept free
// for what waiting adds.
void expect_countable(const Simulation& sim) {
  constexpr Bytes kMostFlow = Bytes::from_base(std::int64_t{1} << 53U);
  constexpr double kMostSeconds = 53 * 86400.0;
  double seconds = 0;
  for (const OpPlan& plan : sim.plans) {
    seconds += to_seconds(plan.uncontended(sim.system->channels()));
    for (const ChannelCharge& charge : plan.charges)
      if (charge.busy > kMostFlow) throw UnitOverflow();
    if (seconds > kMostSeconds) throw UnitOverflow();
  }
}

Simulation simulate_fitting(const ScenarioConfig& config, Simulation sim, Readings readings) {
  sim.plans = sim.system->plan(sim.graph);
  sim.accounting = account(sim.graph, *sim.system, sim.plans);
  Recorder recorder(config, sim);
  recorder.provenance();
  recorder.accounting();
  if (readings == Readings::accounting) return sim;
  expect_countable(sim);
  sim.bound = bound_of(sim.graph, *sim.system, sim.plans);
  sim.execution = execute(sim.graph, *sim.system, sim.plans);
  recorder.times();
  return sim;
}

}  // namespace

Expected<Simulation> simulate(const ScenarioConfig& config, Readings readings) {
  try {
    Simulation sim;
    sim.system = std::make_unique<System>(config.system);
    sim.graph = build_graph(config, *sim.system);
    if (readings == Readings::all)
      if (const auto all = overflows(sim.graph, *sim.system); !all.empty())
        return Unexpected(overflow_text(config, *sim.system, all));
    return simulate_fitting(config, std::move(sim), readings);
  } catch (const UnitOverflow& overflow) {
    return Unexpected(fmt::format("the step is beyond what can be counted: {}", overflow.what()));
  }
}

}  // namespace tiersim
