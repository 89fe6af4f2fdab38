#include "sim/serving/serve.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>

#include <fmt/format.h>

#include "sim/base/sha256.hpp"
#include "sim/base/version.hpp"
#include "sim/config/describe.hpp"
#include "sim/record/metrics.hpp"
#include "sim/serving/apart.hpp"
#include "sim/serving/pools.hpp"
#include "sim/serving/provenance.hpp"
#include "sim/step/costs.hpp"
#include "sim/step/recorder.hpp"
#include "sim/step/resampled.hpp"

namespace tiersim {
namespace {

// A pool on its hardware.
struct PoolOnHardware {
  ServerPool pool;
  System all;
  System one;
  KvLayout layout;
  std::vector<std::size_t> place = {};  // of a TierId among the observed tiers
  std::size_t first_channel = 0;        // among the observed channels

  std::int64_t count() const { return replicas(pool.config.scenario); }
};

// Traffic of devices, over the time of the whole run.
void record_devices(const PoolOnHardware& of, const ServedTotals::Channels& used,
                    const PoolTotals& totals, SimTime end, RunRecord& out) {
  const double seconds = to_seconds(end.time_since_epoch());
  const std::string prefix = of.pool.prefix();
  for (std::size_t c = 0; c < used.taken.size(); ++c) {
    const SystemChannel& channel = of.all.channels()[c];
    const auto instances = static_cast<double>(used.instances[c]);
    out.channel_bytes[prefix + channel.name] = used.taken[c].in_base();
    out.channel_utilisation[prefix + channel.name] =
        seconds == 0 ? 0 : to_seconds(used.taken[c] / channel.capacity) / instances / seconds;
  }
  for (std::size_t d = 0; d < of.all.device_names().size(); ++d) {
    const DeviceId device(d);
    const std::string name = prefix + of.all.device_names()[d];
    const auto payload = [&](Direction direction) {
      return (totals.demand.payload(device, direction) + totals.copies.payload(device, direction))
          .in_base();
    };
    out.traffic_bytes[name] = {payload(Direction::read), payload(Direction::write)};
    out.sharers[name] = of.all.sharers(device);
  }
}

// The room for keys and values in a tier, over all replicas.
Bytes room_in(const ServingConfig& config, const System& one, const KvLayout& layout, TierId tier) {
  const std::int64_t count = replicas(config.scenario);
  const std::string& name = one.tier_names()[tier.index()];
  Bytes room = layout.block_bytes[tier.index()] * (layout.blocks * layout.gpus_of_block * count);
  if (config.server.prefix_cache)
    for (const PrefixTier& prefixes : config.server.prefix_cache->tiers)
      if (prefixes.tier == name) room += prefixes.capacity * (prefixes.shared ? 1 : count);
  if (name == config.scenario.placement.far)
    room += layout.gathered() * (block_limits(config, one, layout).swap_blocks * count);
  return room;
}

// Adds the tiers that may hold keys and values; `place` gives the index of a TierId in the list.
void add_served_tiers(PoolOnHardware& of, std::vector<ServedTier>& tiers) {
  of.place.resize(of.one.tier_names().size());
  for (std::size_t t = 0; t < of.place.size(); ++t) {
    of.place[t] = tiers.size();
    const Bytes room = room_in(of.pool.config, of.one, of.layout, TierId(t));
    if (room > Bytes{})
      tiers.push_back({of.pool.prefix() + of.one.tier_names()[t], room.in_base()});
  }
}

// Returns the FLOPs, bytes and active time of the GPUs of one kind in the window, which cost
// energy.
PoweredWork powered_work(const PoolOnHardware& of, const Demand& work, GpuRole role,
                         double window) {
  const bool main = role == GpuRole::main;
  PoweredWork out{.on = Duration(std::llround(window * 1e12)),
                  .on_gpus = of.all.of_role(role).gpus(),
                  .working_gpus = of.one.of_role(role).gpus()};
  const std::size_t first = main ? 0 : of.all.own_devices();
  const std::size_t last = main ? of.all.own_devices() : of.all.device_names().size();
  if (!work.empty()) {
    constexpr double kKilo = 1000;
    out.flops = static_cast<double>(work.powered_kiloflops(role)) * kKilo;
    out.active = work.active(role);
  }
  for (std::size_t d = first; d < last; ++d)
    out.moved.push_back(work.empty() ? Bytes{} : work.moved(DeviceId(d)));
  return out;
}

// The costs of what all pools did in the window; none of a sum where a pool states none.
StepCosts costs_of_pools(std::span<const PoolOnHardware> pools, const ServingStatistics& statistics,
                         double window) {
  StepCosts sum;
  sum.joules = sum.gpu_joules = sum.usd = 0.0;
  const auto add = [](std::optional<double>& to, const std::optional<double>& more) {
    to = to && more ? std::optional(*to + *more) : std::nullopt;
  };
  for (std::size_t p = 0; p < pools.size(); ++p) {
    const ScenarioConfig& scenario = pools[p].pool.config.scenario;
    for (const GpuRole role : roles_of(scenario)) {
      const RoleConfig of = config_of(scenario, role);
      const StepCosts costs = costs_of(of.system, pools[p].all.of_role(role),
                                       powered_work(pools[p], statistics.work(p), role, window));
      add(sum.joules, costs.joules);
      add(sum.gpu_joules, costs.gpu_joules);
      add(sum.usd, costs.usd);
      sum.joules_class = weakest(sum.joules_class, costs.joules_class);
      sum.usd_class = weakest(sum.usd_class, costs.usd_class);
      for (const std::string& missing : costs.unstated)
        sum.unstated.push_back(pools[p].pool.prefix() + std::string(of.prefix) + missing);
    }
  }
  return sum;
}

// Energy and money of the window, over the tokens that came in it.
void record_costs(std::span<const PoolOnHardware> pools, const ServingStatistics& statistics,
                  RunRecord& out) {
  const Metric& window = out.metrics.at("window_s");
  const Metric& rate = out.metrics.at("throughput_tokens_per_s");
  const double tokens = rate.value * window.value;
  bool worked = false;
  for (std::size_t p = 0; p < pools.size(); ++p) worked = worked || !statistics.work(p).empty();
  if (!worked || tokens <= 0) return;
  const StepCosts costs = costs_of_pools(pools, statistics, window.value);
  const auto metric = [&](std::string_view name, double value, NumberClass by) {
    const MetricDefinition* definition = find_metric(name);
    TS_EXPECTS(definition != nullptr, name);
    out.metrics[std::string(name)] = {value, std::string(definition->unit),
                                      weakest(by, rate.number_class)};
  };
  if (costs.joules) {
    metric("energy_j_per_token", *costs.joules / tokens, costs.joules_class);
    metric("gpu_energy_j_per_token", *costs.gpu_joules / tokens, costs.joules_class);
    metric(
        "power_w.mean",
        *costs.gpu_joules / window.value / static_cast<double>(out.gpus + out.ffn_gpus.value_or(0)),
        costs.joules_class);
  }
  if (costs.usd) metric("cost_usd_per_mtoken", *costs.usd / tokens * 1e6, costs.usd_class);
  out.costs_unstated = costs.unstated;
}

// How long GPUs of both kinds compute in the window, where others have the MLPs. The pool that
// answers, which has them, is one replica.
void record_kernels(const PoolOnHardware& answers, const Demand& work, RunRecord& out) {
  const Metric& window = out.metrics.at("window_s");
  if (answers.all.ffn() == nullptr || work.empty() || window.value <= 0) return;
  for (const auto& [name, role] :
       {std::pair("attention_gpu_busy", GpuRole::main), std::pair("ffn_gpu_busy", GpuRole::ffn)})
    out.metrics[name] = {to_seconds(work.computing(role)) / window.value, "1",
                         out.metrics.at("throughput_tokens_per_s").number_class};
}

// The rooms of the pool that answers, and what fills the memory of one GPU in each pool.
void record_cache(std::span<const PoolOnHardware> pools, const ServingTotals& totals,
                  ServingRecord& out) {
  const KvLayout& layout = pools.back().layout;
  out.capacity = layout.capacity;
  for (const PoolOnHardware& other : pools.first(pools.size() - 1))
    for (KvCapacity::Part part : other.layout.capacity.parts) {
      part.tier = other.pool.prefix() + part.tier;
      out.capacity.parts.push_back(std::move(part));
    }
  out.capacity.max_sequences_full_length =
      layout.blocks / std::max<std::int64_t>(1, totals.most_blocks);
  for (std::size_t kind = 0; kind < totals.moves.size(); ++kind)
    if (totals.moves[kind] > 0)
      out.moves.push_back({.name = std::string(kMoveKindNames[kind]),
                           .bytes = totals.moved_bytes[kind],
                           .count = totals.moves[kind]});
}

// All replicas on one engine, and what a listener wants to see of them.
Expected<ServedTotals> serve_together(const BuiltServer& built,
                                      std::span<const PoolOnHardware> pools, RequestSource& source,
                                      ServingStatistics& statistics, ServingListener* listener,
                                      const std::string& run_id) {
  std::vector<std::unique_ptr<IterationCost>> made;
  std::vector<IterationCost*> costs;
  for (const BuiltPool& pool : built.pools) {
    made.push_back(std::make_unique<IterationCost>(pool.config, pool.one));
    costs.push_back(made.back().get());
  }
  ServingObserver& observer =
      listener != nullptr ? static_cast<ServingObserver&>(*listener) : statistics;
  ReplicaGroup group(built, costs, std::nullopt, source, statistics, observer);
  if (listener != nullptr) {
    std::vector<ServedPool> served;
    for (std::size_t p = 0; p < pools.size(); ++p) {
      served.push_back({pools[p].pool.name, pools[p].all, group.hardware(p), pools[p].count()});
      group.hardware(p).set_on_flow([listener, p](ChannelId channel, std::int64_t change) {
        listener->on_flow(p, channel, change);
      });
    }
    listener->begin({std::move(served), built.pools.back().config.scenario.name, run_id},
                    statistics);
  }
  group.server().start();
  group.server().admit();
  auto served = group.finish();
  if (served && listener != nullptr) listener->finish(served->end);
  return served;
}

// Serves the requests and measures that, from the start.
Expected<ServedTotals> measure(const ServingConfig& config, const BuiltServer& built,
                               std::span<const PoolOnHardware> pools, const ServedBy& by,
                               std::optional<ServingStatistics>& statistics,
                               ServingListener* listener, const std::string& run_id, int threads) {
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
  return serve_together(built, pools, **source, *statistics, listener, run_id);
}

Expected<std::vector<PoolOnHardware>> pools_on_hardware(const ServingConfig& config) {
  std::vector<PoolOnHardware> out;
  for (ServerPool& pool : pools_of(config)) {
    System all = build_system(pool.config.scenario);
    System one = build_stage_system(pool.config.scenario);
    auto layout = kv_layout(pool.config, one);
    if (!layout)
      return Unexpected(pool.name.empty() || layout.error().starts_with("server.")
                            ? layout.error()
                            : pool.name + ": " + layout.error());
    out.push_back({std::move(pool), std::move(all), std::move(one), *std::move(layout)});
  }
  return out;
}

// Names the channels and tiers of all pools, which are observed together.
ServedBy served_by(std::vector<PoolOnHardware>& pools) {
  ServedBy out{.replicas = 0, .stages = 0, .blocks = 0, .pools = std::ssize(pools)};
  for (PoolOnHardware& of : pools) {
    of.first_channel = out.channels.size();
    for (const SystemChannel& channel : of.all.channels())
      out.channels.push_back(of.pool.prefix() + channel.name);
    add_served_tiers(of, out.tiers);
    out.replicas += of.count();
    out.stages += of.count() * of.pool.config.scenario.parallel.pipeline;
    out.blocks += of.count() * of.layout.blocks;
  }
  return out;
}

BuiltServer built_of(std::span<const PoolOnHardware> pools, const ExitDepths* depths) {
  BuiltServer out{.pools = {}, .depths = depths};
  for (const PoolOnHardware& of : pools)
    out.pools.push_back({.config = of.pool.config,
                         .all = of.all,
                         .one = of.one,
                         .layout = of.layout,
                         .place = of.place,
                         .replicas = of.count(),
                         .first_channel = of.first_channel});
  return out;
}

Expected<RunRecord> run(const ServingConfig& config, ServingListener* listener, int threads) {
  auto placed = pools_on_hardware(config);
  if (!placed) return Unexpected(placed.error());
  std::vector<PoolOnHardware> pools = *std::move(placed);
  const ServedBy by = served_by(pools);
  std::optional<ExitDepths> depths;
  if (config.early_exit)
    depths.emplace(*config.early_exit, config.scenario.model.layers,
                   static_cast<std::uint64_t>(config.seed));
  CanonicalTexts texts = canonical_texts(config);
  const std::string run_id = sha256_hex(texts.for_id);
  const BuiltServer built = built_of(pools, depths ? &*depths : nullptr);
  std::optional<ServingStatistics> statistics;
  const auto served = measure(config, built, pools, by, statistics, listener, run_id, threads);
  if (!served) return Unexpected(served.error());

  const PoolOnHardware& last = pools.back();  // the one that answers
  RunRecord out;
  out.gpus = 0;
  out.tiersim_version = kVersion;
  out.name = config.scenario.name;
  out.config = std::move(texts.json);
  out.run_id = run_id;
  out.device =
      device_record(last.pool.config.scenario, last.one, config.server.scheduler.max_sequences);
  std::vector<UsedPool> used;
  for (std::size_t p = 0; p < pools.size(); ++p) {
    const PoolOnHardware& of = pools[p];
    out.gpus += of.all.gpus();
    if (const System* ffn = of.all.ffn()) out.ffn_gpus = ffn->gpus();
    used.push_back({of.pool, of.one, served->pools[p].taken});
  }
  statistics->record(out, add_provenance(config, used, out));
  record_costs(pools, *statistics, out);
  record_kernels(last, statistics->work(pools.size() - 1), out);
  for (std::size_t p = 0; p < pools.size(); ++p)
    record_devices(pools[p], served->pools[p], served->totals.pools[p], served->end, out);
  record_cache(pools, served->totals, *out.serving);
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
  ServingConfig plain = config;
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
