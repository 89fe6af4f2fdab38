#include "sim/step/simulate.hpp"

#include <fmt/format.h>

#include "sim/step/recorder.hpp"
#include "sim/step/repeated_step.hpp"
#include "sim/step/resampled.hpp"

namespace tiersim {
namespace {

std::string overflow_text(const ScenarioConfig& config, const System& system,
                          const std::vector<Overflow>& all) {
  std::string text;
  for (const Overflow& overflow : all) text += (text.empty() ? "" : "; ") + overflow.text;
  const std::int64_t batch = largest_batch(config, system);
  if (batch == 0) return text + "; not even one sequence fits at this context";
  return fmt::format("{}; the largest batch that fits is {}", text, batch);
}

// The engine counts a flow of up to 2^53 B and a time of up to 106 days; half of the time is kept
// free for waiting.
void expect_countable(const Simulation& sim) {
  constexpr Bytes kMostFlow = Bytes::from_base(std::int64_t{1} << 53U);
  constexpr double kMostSeconds = 53 * 86400.0;
  double seconds = 0;
  for (std::size_t p = 0; p < sim.plans.distinct().size(); ++p) {
    const OpPlan& plan = sim.plans.distinct()[p];
    seconds += to_seconds(plan.uncontended(sim.system->channels())) *
               static_cast<double>(sim.plans.counts()[p]);
    for (const ChannelCharge& charge : plan.charges)
      if (charge.busy > kMostFlow) throw UnitOverflow();
    if (seconds > kMostSeconds) throw UnitOverflow();
  }
}

// System, graph and plans; the error says what does not fit.
Expected<Simulation> planned(const ScenarioConfig& config, bool must_fit,
                             std::shared_ptr<const System> system, std::vector<Op> room = {}) {
  Simulation sim;
  sim.system = std::move(system);
  sim.graph = build_graph(config, *sim.system, std::move(room));
  if (must_fit)
    if (const auto all = overflows(sim.graph, *sim.system); !all.empty())
      return Unexpected(overflow_text(config, *sim.system, all));
  sim.plans = sim.system->plan(sim.graph);
  sim.accounting = account(sim.graph, *sim.system, sim.plans);
  return sim;
}

// Adds the results of speculation, by the step without it on the same system.
void add_speculation(const ScenarioConfig& config, const Simulation& sim, Recorder& recorder) {
  if (!config.speculation) return;
  const StepGraph plain = build_graph(config, *sim.system, {}, false);
  recorder.speculation(execute(plain, *sim.system, sim.system->plan(plain)).time);
}

// The times of one draw, without everything that is common to all draws.
Expected<RunRecord> times_of(const ScenarioConfig& config) {
  auto sim = planned(config, true, std::make_shared<const System>(build_system(config)));
  if (!sim) return Unexpected(sim.error());
  Simulation run = *std::move(sim);
  expect_countable(run);
  run.bound = bound_of(run.graph, *run.system, run.plans);
  run.execution = execute(run.graph, *run.system, run.plans);
  Recorder recorder(config, run);
  recorder.bound();
  recorder.times();
  add_speculation(config, run, recorder);
  return std::move(run.record);
}

}  // namespace

Expected<Simulation> simulate(const ScenarioConfig& config, Evaluation evaluation,
                              Provenance provenance) {
  return simulate(config, evaluation, provenance, Results::all, nullptr);
}

Expected<Simulation> simulate(const ScenarioConfig& config, Evaluation evaluation,
                              Provenance provenance, Results results, RepeatedStep* repeated) {
  try {
    const bool must_fit = evaluation != Evaluation::accounting;
    auto fitting =
        repeated == nullptr
            ? planned(config, must_fit, std::make_shared<const System>(build_system(config)))
            : planned(config, must_fit, repeated->system_of(config), std::move(*repeated->room_));
    if (!fitting) return fitting;
    Simulation sim = *std::move(fitting);
    Recorder recorder(config, sim);
    // Intervals are drawn for the numbers that the record lists.
    recorder.provenance(evaluation == Evaluation::all ? Provenance::full : provenance,
                        repeated != nullptr ? &repeated->classes_ : nullptr);
    recorder.accounting(results);
    if (evaluation == Evaluation::accounting) return sim;
    expect_countable(sim);
    sim.bound = bound_of(sim.graph, *sim.system, sim.plans);
    if (evaluation == Evaluation::analytic) {
      recorder.bound();
      return sim;
    }
    sim.execution = execute(sim.graph, *sim.system, sim.plans);
    recorder.bound();
    recorder.times();
    add_speculation(config, sim, recorder);
    if (evaluation == Evaluation::times) return sim;
    const UncertaintyConfig u = config.uncertainty.value_or(UncertaintyConfig{});
    if (uncertain_paths(sim.record) == uncertain_prices(sim.record)) {
      const Pricing<ScenarioConfig> priced = [&](const ScenarioConfig& drawn) {
        return priced_step(drawn, sim).metrics;
      };
      add_price_intervals(config, "scenario", u.draws, u.seed, priced, sim.record);
      return sim;
    }
    if (const auto drawn = add_intervals<ScenarioConfig>(config, "scenario", u.draws, u.seed,
                                                         times_of, sim.record);
        !drawn)
      return Unexpected(drawn.error());
    return sim;
  } catch (const UnitOverflow& overflow) {
    return Unexpected(fmt::format("the step is beyond what can be counted: {}", overflow.what()));
  }
}

}  // namespace tiersim
