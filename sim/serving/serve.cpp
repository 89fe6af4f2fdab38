#include "sim/serving/serve.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "sim/base/sha256.hpp"
#include "sim/base/version.hpp"
#include "sim/config/describe.hpp"
#include "sim/config/snapshot.hpp"
#include "sim/record/metrics.hpp"
#include "sim/serving/apart.hpp"
#include "sim/step/costs.hpp"
#include "sim/step/recorder.hpp"
#include "sim/step/resampled.hpp"
#include "workloads/llm/speculative_step.hpp"

namespace tiersim {
namespace {

// Kernels that iterations use.
struct UsedKernels {
  std::set<std::string> families;
  TimedNames timed;
};
UsedKernels used_kernels(const ServingConfig& config, const System& system) {
  AttentionContext replica = context_of(config.scenario, system);
  IterationWork work{.decodes = 2, .context = 100, .logits = 2, .encoder_context = 10};
  if (!config.scenario.model.encoder) work.chunks = {{50, 50}};
  if (config.scenario.speculation) {
    work.drafts = config.scenario.speculation->most_tokens();
    work.logits *= 1 + work.drafts;
  }
  UsedKernels out;
  const StepGraph graph =
      build_drafted_iteration(replica, *config.scenario.method.method, work, system.tier_names());
  for (const Op& op : graph.ops) {
    if (op.kind != OpKind::compute) continue;
    out.families.emplace(name(system.family_of(op)));
    if (const auto kernel = system.plan(op).timed_kernel; !kernel.empty()) out.timed.insert(kernel);
  }
  if (config.scenario.model.encoder) out.families.emplace(name(KernelFamily::prefill_attention));
  return out;
}

// The provenance of a run's numbers, and the weakest class of those behind its times.
class Provenance {
 public:
  Provenance(const ServingConfig& config, const System& system, const std::vector<Bytes>& taken)
      : config_(config), kernels_(used_kernels(config, system)) {
    for (std::size_t c = 0; c < taken.size(); ++c)
      if (taken[c] > Bytes{}) {
        const std::string& channel = system.channels()[c].name;
        used_.insert(channel.substr(0, channel.rfind('.')));
      }
  }

  NumberClass add_to(RunRecord& out) const {
    NumberClass weakest_class = NumberClass::measured;
    for (const SourcedNumber& number : list_numbers(config_)) {
      const bool counts = in_times(number.path);
      if (!counts && number.path.starts_with(kTimed)) continue;
      out.numbers.push_back(
          {number.path, number.value, number.number_class, number.source, counts, number.ci95});
      if (counts) weakest_class = weakest(weakest_class, number.number_class);
    }
    return weakest_class;
  }

 private:
  bool in_times(const std::string& path) const {
    if (only_in_costs(path, config_.scenario.system)) return false;
    constexpr std::string_view kKernels = "system.gpu.kernels.";
    if (path.starts_with(kKernels)) {
      const std::string rest = path.substr(kKernels.size());
      return kernels_.families.contains(rest.substr(0, rest.find('.')));
    }
    if (path.starts_with(kTimed)) {
      const std::string rest = path.substr(kTimed.size());
      return std::ranges::any_of(kernels_.timed, [&](std::string_view kernel) {
        return rest.starts_with(std::string(kernel) + '.');
      });
    }
    for (const std::string_view group : {"system.links.", "system.tiers."}) {
      if (!path.starts_with(group)) continue;
      return std::ranges::any_of(used_, [&](const std::string& device) {
        return path.starts_with(std::string(group) + device + '.');
      });
    }
    for (const std::string_view engine : kRequesterNames)
      if (path.starts_with("system." + std::string(engine) + '.'))
        return used_.contains(std::string(engine));
    return true;
  }

  static constexpr std::string_view kTimed = "system.gpu.timed_kernels.";

  const ServingConfig& config_;
  UsedKernels kernels_;
  std::set<std::string> used_;  // devices and request engines
};

// Traffic of devices, over the time of the whole run.
void record_devices(const System& all, const ServedTotals& served, RunRecord& out) {
  const double seconds = to_seconds(served.end.time_since_epoch());
  for (std::size_t c = 0; c < served.taken.size(); ++c) {
    const SystemChannel& channel = all.channels()[c];
    const auto instances = static_cast<double>(served.instances[c]);
    out.channel_bytes[channel.name] = served.taken[c].in_base();
    out.channel_utilisation[channel.name] =
        seconds == 0 ? 0 : to_seconds(served.taken[c] / channel.capacity) / instances / seconds;
  }
  for (std::size_t d = 0; d < all.device_names().size(); ++d) {
    const DeviceId device(d);
    const auto payload = [&](Direction direction) {
      return (served.totals.demand.payload(device, direction) +
              served.totals.copies.payload(device, direction))
          .in_base();
    };
    out.traffic_bytes[all.device_names()[d]] = {payload(Direction::read),
                                                payload(Direction::write)};
    out.sharers[all.device_names()[d]] = all.sharers(device);
  }
}

// The room for keys and values in a tier, over all replicas.
Bytes room_in(const ServingConfig& config, const System& one, const KvLayout& layout, TierId tier) {
  const std::int64_t count = replicas(config.scenario);
  const std::string& name = one.tier_names()[tier.index()];
  Bytes room = layout.block_bytes[tier.index()] * (layout.blocks * layout.gpus_of_block * count);
  if (config.server.prefix_cache)
    for (const PrefixTier& prefixes : config.server.prefix_cache->tiers)
      if (prefixes.tier == name) room += prefixes.capacity * count;
  if (name == config.scenario.placement.far)
    room += layout.gathered() * (block_limits(config, one, layout).swap_blocks * count);
  return room;
}

// Tiers that may hold keys and values; `place` gives the index of a TierId in this list.
std::vector<ServedTier> served_tiers(const ServingConfig& config, const System& one,
                                     const KvLayout& layout, std::vector<std::size_t>& place) {
  std::vector<ServedTier> tiers;
  place.resize(one.tier_names().size());
  for (std::size_t t = 0; t < place.size(); ++t) {
    place[t] = tiers.size();
    if (const Bytes room = room_in(config, one, layout, TierId(t)); room > Bytes{})
      tiers.push_back({one.tier_names()[t], room.in_base()});
  }
  return tiers;
}

// Energy and money of the window, over the tokens that came in it.
void record_costs(const ServingConfig& config, const System& all, const System& one,
                  const Demand& work, RunRecord& out) {
  const Metric& window = out.metrics.at("window_s");
  const Metric& rate = out.metrics.at("throughput_tokens_per_s");
  const double tokens = rate.value * window.value;
  if (work.empty() || tokens <= 0) return;
  constexpr double kKilo = 1000;
  PoweredWork powered{.flops = static_cast<double>(work.powered_kiloflops()) * kKilo,
                      .active = work.active(),
                      .on = Duration(std::llround(window.value * 1e12)),
                      .on_gpus = all.gpus(),
                      .working_gpus = one.gpus()};
  for (std::size_t d = 0; d < all.device_names().size(); ++d)
    powered.moved.push_back(work.moved(DeviceId(d)));
  const StepCosts costs = costs_of(config.scenario.system, all, powered);
  const auto metric = [&](std::string_view name, double value, NumberClass by) {
    const MetricDefinition* definition = find_metric(name);
    TS_EXPECTS(definition != nullptr, name);
    out.metrics[std::string(name)] = {value, std::string(definition->unit),
                                      weakest(by, rate.number_class)};
  };
  if (costs.joules) {
    metric("energy_j_per_token", *costs.joules / tokens, costs.joules_class);
    metric("gpu_energy_j_per_token", *costs.gpu_joules / tokens, costs.joules_class);
    metric("power_w.mean", *costs.gpu_joules / window.value / static_cast<double>(all.gpus()),
           costs.joules_class);
  }
  if (costs.usd) metric("cost_usd_per_mtoken", *costs.usd / tokens * 1e6, costs.usd_class);
  out.costs_unstated = costs.unstated;
}

void record_cache(const KvLayout& layout, const ServingTotals& totals, ServingRecord& out) {
  out.capacity = layout.capacity;
  out.capacity.max_sequences_full_length =
      layout.blocks / std::max<std::int64_t>(1, totals.most_blocks);
  for (std::size_t kind = 0; kind < totals.moves.size(); ++kind)
    if (totals.moves[kind] > 0)
      out.moves.push_back({.name = std::string(kMoveKindNames[kind]),
                           .bytes = totals.moved_bytes[kind],
                           .count = totals.moves[kind]});
}

// All replicas on one engine, and what a listener wants to see of them.
Expected<ServedTotals> serve_together(const BuiltServer& built, RequestSource& source,
                                      ServingStatistics& statistics, ServingListener* listener,
                                      const std::string& run_id) {
  IterationCost cost(built.config, built.one);
  ServingObserver& observer =
      listener != nullptr ? static_cast<ServingObserver&>(*listener) : statistics;
  ReplicaGroup group(built, {.first = 0, .count = built.replicas}, cost, source, statistics,
                     observer);
  if (listener != nullptr) {
    listener->begin(
        {built.all, group.hardware(), built.replicas, built.config.scenario.name, run_id},
        statistics);
    group.hardware().set_on_flow(
        [&](ChannelId channel, std::int64_t change) { listener->on_flow(channel, change); });
  }
  group.server().start();
  group.server().admit();
  auto served = group.finish();
  if (served && listener != nullptr) listener->finish(served->end);
  return served;
}

// Serves the requests and measures that, from the start.
Expected<ServedTotals> measure(const BuiltServer& built, const ServedBy& by,
                               std::optional<ServingStatistics>& statistics,
                               ServingListener* listener, const std::string& run_id, int threads) {
  const ServingConfig& config = built.config;
  const auto begin = [&] {
    statistics.emplace(config, by);
    return make_request_source(config.workload, static_cast<std::uint64_t>(config.seed));
  };
  auto source = begin();
  if (!source) return Unexpected(source.error());
  if (listener == nullptr && may_be_apart(config)) {
    auto served = serve_apart(built, **source, *statistics, threads);
    if (!served) return Unexpected(served.error());
    if (*served) return **std::move(served);
    source = begin();
    if (!source) return Unexpected(source.error());
  }
  return serve_together(built, **source, *statistics, listener, run_id);
}

Expected<RunRecord> run(const ServingConfig& config, ServingListener* listener, int threads) {
  const System all = build_system(config.scenario);
  const System one = build_stage_system(config.scenario);
  const auto layout = kv_layout(config, one);
  if (!layout) return Unexpected(layout.error());

  const std::int64_t count = replicas(config.scenario);
  std::vector<std::string> channels;
  for (const SystemChannel& channel : all.channels()) channels.push_back(channel.name);
  std::vector<std::size_t> place;
  std::vector<ServedTier> tiers = served_tiers(config, one, *layout, place);
  std::optional<ExitDepths> depths;
  if (config.early_exit)
    depths.emplace(*config.early_exit, config.scenario.model.layers,
                   static_cast<std::uint64_t>(config.seed));
  CanonicalTexts texts = canonical_texts(config);
  const std::string run_id = sha256_hex(texts.for_id);
  const BuiltServer built{.config = config,
                          .all = all,
                          .one = one,
                          .layout = *layout,
                          .place = place,
                          .depths = depths ? &*depths : nullptr,
                          .replicas = count};
  std::optional<ServingStatistics> statistics;
  const auto served = measure(built,
                              {.replicas = count,
                               .stages = config.scenario.parallel.pipeline,
                               .blocks = layout->blocks,
                               .channels = std::move(channels),
                               .tiers = std::move(tiers)},
                              statistics, listener, run_id, threads);
  if (!served) return Unexpected(served.error());

  RunRecord out;
  out.tiersim_version = kVersion;
  out.name = config.scenario.name;
  out.config = std::move(texts.json);
  out.run_id = run_id;
  out.gpus = all.gpus();
  out.device = device_record(config.scenario, one, config.server.scheduler.max_sequences);
  const NumberClass time_class = Provenance(config, one, served->taken).add_to(out);
  statistics->record(out, time_class);
  record_costs(config, all, one, statistics->work(), out);
  record_devices(all, *served, out);
  record_cache(*layout, served->totals, *out.serving);
  return out;
}

// Adds the gain over the same requests on the same server without drafts.
Expected<RunRecord> run_with_speed_up(const ServingConfig& config, ServingListener* listener,
                                      int threads) {
  auto record = run(config, listener, threads);
  const auto& speculation = config.scenario.speculation;
  if (!record || !speculation || speculation->most_tokens() == 0) return record;
  const auto with = record->metrics.find("tpot_s.mean");
  if (with == record->metrics.end() || with->second.value == 0) return record;
  Diagnostics diagnostics;
  const Document document = read_snapshot(canonical_json(config), "a copy", diagnostics);
  auto plain = read<ServingConfig>(document, "serving", diagnostics);
  TS_ENSURES(diagnostics.ok(), diagnostics.text());
  plain.scenario.speculation.reset();
  const auto without = run(plain, nullptr, threads);
  if (!without) return record;  // it does not run without drafts, so there is nothing to compare
  const auto before = without->metrics.find("tpot_s.mean");
  if (before == without->metrics.end()) return record;
  Metric speedup = with->second;
  speedup.value = before->second.value / speedup.value;
  speedup.unit = "1";
  RunRecord out = *std::move(record);
  out.metrics["speculation_speedup"] = std::move(speedup);
  return out;
}

}  // namespace

Expected<RunRecord> serve(const ServingConfig& config, ServingListener* listener, int threads) {
  try {
    auto record = run_with_speed_up(config, listener, threads);
    if (!record || !config.uncertainty) return record;
    const RunDraw<ServingConfig> draw = [&](const ServingConfig& drawn) {
      return run_with_speed_up(drawn, nullptr, threads);
    };
    RunRecord out = *std::move(record);
    const auto& [draws, seed] = *config.uncertainty;
    if (const auto done = add_intervals<ServingConfig>(config, "serving", draws, seed, draw, out);
        !done)
      return Unexpected(done.error());
    return out;
  } catch (const SourceFailure& failure) {
    return Unexpected(std::string(failure.what()));
  } catch (const UnitOverflow& overflow) {
    return Unexpected(fmt::format("the run is beyond what can be counted: {}", overflow.what()));
  }
}

}  // namespace tiersim
