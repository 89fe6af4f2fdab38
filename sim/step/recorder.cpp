#include "sim/step/recorder.hpp"

#include <algorithm>

#include "sim/base/sha256.hpp"
#include "sim/base/version.hpp"
#include "sim/config/describe.hpp"
#include "sim/record/metrics.hpp"
#include "sim/step/costs.hpp"
#include "sim/step/number_uses.hpp"
#include "sim/step/time_split.hpp"
#include "workloads/llm/device_step.hpp"

namespace tiersim {
namespace {

BytesByClass by_class(const ClassBytes& bytes, std::int64_t times) {
  BytesByClass out;
  for (std::size_t c = 0; c < bytes.size(); ++c)
    if (bytes[c] > Bytes{}) out[std::string(kTensorClassNames[c])] = (bytes[c] * times).in_base();
  return out;
}

// A GPU has dozens, of which a step runs a few; those of the others would only fill its record.
constexpr std::string_view kTimedKernels = "system.gpu.timed_kernels.";
bool is_of_timed_kernel(std::string_view path) {
  if (path.starts_with(kFfnPrefix)) path.remove_prefix(kFfnPrefix.size());
  return path.starts_with(kTimedKernels);
}

bool is_far_read(const Access& access, TierId far) {
  return access.tier == far && access.direction == Direction::read;
}

}  // namespace

void Recorder::provenance(Provenance extent, TimeClasses* classes) {
  record_.tiersim_version = kVersion;
  record_.name = config_.name;
  if (extent != Provenance::classes) {
    CanonicalTexts texts = canonical_texts(config_);
    record_.config = std::move(texts.json);
    record_.run_id = sha256_hex(texts.for_id);
  }
  record_.gpus = sim_.system->gpus();
  if (config_.ffn) record_.ffn_gpus = config_.ffn->system.gpus.count;
  record_.batch = config_.step.batch;
  record_.context = config_.step.context;
  for (std::size_t d = 0; d < sim_.system->device_names().size(); ++d)
    record_.sharers[sim_.system->device_names()[d]] = sim_.system->sharers(DeviceId(d));
  TimeClasses once;
  time_class_ = (classes != nullptr ? *classes : once).weakest_of(config_, sim_);
  if (extent != Provenance::full) return;
  const NumbersInTimes in_times(config_, sim_);
  for (const SourcedNumber& number : list_numbers(config_)) {
    if (!in_times.contains(number.path) && is_of_timed_kernel(number.path)) continue;
    record_.numbers.push_back({number.path, number.value, number.number_class, number.source,
                               in_times.contains(number.path), number.ci95});
  }
}

void Recorder::accounting(Results results) {
  if (results == Results::all) {
    tables();
    device();
  }
  footprint_metrics();
  far_metrics();
  screening_metrics();
}

void Recorder::tables() {
  const Accounting& a = sim_.accounting;
  const System& system = *sim_.system;
  for (std::size_t t = 0; t < a.footprint.size(); ++t) {
    const std::int64_t sharers = system.sharers(system.device(TierId(t)));
    record_.footprint_bytes[system.tier_names()[t]] = (total(a.footprint[t]) * sharers).in_base();
    record_.footprint_by_class[system.tier_names()[t]] = by_class(a.footprint[t], sharers);
  }
  for (std::size_t d = 0; d < a.traffic.size(); ++d) {
    const std::string& device = system.device_names()[d];
    const std::int64_t sharers = system.sharers(DeviceId(d));
    const auto& [read, write] = a.traffic[d];
    const auto both = [&](const ClassBytes& in, const ClassBytes& out) {
      return ReadWrite{(total(in) * sharers).in_base(), (total(out) * sharers).in_base()};
    };
    record_.traffic_bytes[device] = both(read.payload, write.payload);
    record_.moved_bytes[device] = both(read.moved, write.moved);
    record_.traffic_by_class[device] = {by_class(read.payload, sharers),
                                        by_class(write.payload, sharers)};
  }
  for (std::size_t c = 0; c < a.busy.size(); ++c) {
    const SystemChannel& channel = system.channels()[c];
    record_.channel_bytes[channel.name] = (a.busy[c] * channel.sharers).in_base();
  }
}

// The other pipeline stages add their time to the step, but not to the hand-over: all stages send
// the rest of the cache at the same time.
double Recorder::pipelined(double time, double handover) const {
  return (time - handover) * pipeline_stretch(context_of(config_, *sim_.system)) + handover;
}

void Recorder::bound() {
  const Bound& bound = sim_.bound;
  const double seconds = to_seconds(bound.time);
  // Only the engine gives the hand-over's part of a step; without it no stage's time is added.
  const bool executed = !sim_.execution.timings.empty();
  const double handover = executed ? handover_seconds() : config_.handover ? seconds : 0;
  metric("bound_s", std::max(pipelined(seconds, handover), seconds), time_class_);
  for (const Share& share : bound.shares)
    record_.bound_shares.push_back({share.cause, to_seconds(share.time)});
  // The total load of one channel, by all GPUs or by overlapping operations, may exceed every
  // chain.
  if (bound.shares.empty())
    record_.bounded_by = "nothing";
  else if (bound.time > bound.critical_path && bound.binding != kGpuWork)
    record_.bounded_by = bound.binding;
  else
    record_.bounded_by = bound.shares.front().cause;
}

void Recorder::times() {
  const double busy = to_seconds(sim_.execution.time);
  const bool decode = config_.step.kind == StepKind::decode;
  const double handover = handover_seconds();
  const double time = pipelined(busy, handover);
  metric("step_time_s", time, time_class_);
  if (config_.handover) metric("handover_s", handover, time_class_);
  const double tokens = tokens_of_step(config_);
  metric(decode ? "tpot_s" : "ttft_s", (time - handover) / tokens, time_class_);
  // In a prefill a stage takes the next batch while the others work on this one.
  const double stretch = decode ? pipeline_stretch(context_of(config_, *sim_.system)) : 1;
  metric("throughput_tokens_per_s",
         static_cast<double>(replicas(config_) * sim_.graph.tokens) * tokens / (busy * stretch),
         time_class_);
  channels();
  phases();
  kernels();
  costs();
}

void Recorder::speculation(Duration plain) {
  const auto timings = sim_.execution.of_gpu(0);
  SimTime drafted{};
  for (std::size_t op = 0; op < sim_.graph.drafting; ++op)
    drafted = std::max(drafted, timings[op].end);
  const double tokens = tokens_of_step(config_);
  metric("acceptance_length", tokens, time_class_);
  metric("draft_time_s", to_seconds(drafted.time_since_epoch()), time_class_);
  metric("speculation_speedup", to_seconds(plain) * tokens / to_seconds(sim_.execution.time),
         time_class_);
}

// From the first token to the arrival of the whole cache.
double Recorder::handover_seconds() const {
  if (!config_.handover) return 0;
  const auto timings = sim_.execution.of_gpu(0);
  SimTime first{};
  for (std::size_t op = 0; op < timings.size(); ++op)
    if (sim_.graph.ops[op].phase != Phase::kv_transfer) first = std::max(first, timings[op].end);
  return to_seconds(sim_.execution.time - first.time_since_epoch());
}

void Recorder::metric(std::string_view name, double value, NumberClass number_class) {
  const auto* it = std::ranges::find(kMetrics, name, &MetricDefinition::name);
  TS_EXPECTS(it != kMetrics.end(), name);
  record_.metrics[std::string(name)] = {value, std::string(it->unit), number_class};
}

void Recorder::counted(std::string_view name, double value) {
  metric(name, value, NumberClass::specification);
}
void Recorder::counted(std::string_view name, Bytes bytes) {
  counted(name, static_cast<double>(bytes.in_base()));
}

void Recorder::footprint_metrics() {
  const Accounting& a = sim_.accounting;
  Bytes kv;
  Bytes keys;
  for (const ClassBytes& tier : a.footprint) {
    for (std::size_t c = 0; c < tier.size(); ++c)
      if (is_kv_cache(static_cast<TensorClass>(c))) kv += tier[c];
    keys += tier[static_cast<std::size_t>(TensorClass::keys)];
  }
  counted("kv_footprint_bytes", kv);
  counted("kv_keys_bytes", keys);
  counted("step_flops", static_cast<double>(a.flops.in_base()));
  counted("padding_flops", static_cast<double>(a.padding.in_base()));
  counted("collective_bytes", a.exchanged);
  counted("handover_bytes", a.handed_over);
  const std::int64_t batch = largest_batch(config_, *sim_.system);
  counted("max_batch", static_cast<double>(batch));
  counted("kv_capacity_tokens",
          static_cast<double>(batch) * static_cast<double>(kept_positions(config_, *sim_.system)));
}

void Recorder::far_metrics() {
  const TierId far = sim_.system->tier(config_.placement.far);
  const bool offloaded = config_.placement.far != config_.placement.near;
  Bytes load;
  std::int64_t trips = 0;
  if (offloaded)
    for (const Op& op : sim_.graph.ops) {
      bool reads = false;
      for (const Access& access : op.accesses) {
        if (!is_far_read(access, far)) continue;
        load += access.payload;
        reads = true;
      }
      trips += reads ? 1 : 0;
    }
  const auto layers = static_cast<double>(config_.model.layers);
  counted("far_load_bytes", load);
  counted("far_load_bytes_per_layer", static_cast<double>(load.in_base()) / layers);
  counted("far_round_trips_per_layer", static_cast<double>(trips) / layers);
}

void Recorder::screening_metrics() {
  const TierId far = sim_.system->tier(config_.placement.far);
  const bool offloaded = config_.placement.far != config_.placement.near;
  Flops flops;
  Bytes from_near;
  Bytes from_far;
  for (const Op& op : sim_.graph.ops) {
    if (op.phase != Phase::screening) continue;
    flops += op.flops;
    for (const Access& access : op.accesses)
      if (access.direction == Direction::read)
        (offloaded && access.tier == far ? from_far : from_near) += access.payload;
  }
  counted("screening_flops", static_cast<double>(flops.in_base()));
  counted("screening_near_bytes", from_near);
  counted("screening_far_bytes", from_far);
}

void Recorder::channels() {
  const auto& channels = sim_.system->channels();
  for (std::size_t c = 0; c < channels.size(); ++c)
    record_.channel_utilisation[channels[c].name] =
        to_seconds(sim_.execution.busy[c] / channels[c].capacity) / to_seconds(sim_.execution.time);
}

void Recorder::phases() {
  const auto timings = sim_.execution.of_gpu(0);
  std::array<Duration, kPhaseNames.size()> sums{};
  for (std::size_t op = 0; op < timings.size(); ++op)
    sums[static_cast<std::size_t>(sim_.graph.ops[op].phase)] += timings[op].end - timings[op].start;
  for (std::size_t p = 0; p < sums.size(); ++p)
    if (sums[p] > Duration{})
      record_.phases.push_back({std::string(kPhaseNames[p]), to_seconds(sums[p])});
  metric("screening_time_s", to_seconds(sums[static_cast<std::size_t>(Phase::screening)]),
         time_class_);
  const TimeSplit split = split_time(sim_.graph, *sim_.system, sim_.plans, timings);
  for (std::size_t part = 0; part < split.size(); ++part)
    record_.time_split.push_back({std::string(kTimePartNames[part]), to_seconds(split[part])});
}

PricedStep priced_step(const ScenarioConfig& config, const Simulation& sim) {
  // A stage waits while a decode step passes through the others; in a prefill the time counts for
  // the next batch.
  const bool waits = config.step.kind == StepKind::decode;
  const double stretch = waits ? pipeline_stretch(context_of(config, *sim.system)) : 1;
  const auto time =
      static_cast<std::int64_t>(static_cast<double>(sim.execution.time.count()) * stretch);
  StepCosts costs = costs_of(config.system, *sim.system, sim.accounting, Duration(time));
  double gpus = 1;  // with the part of FFN GPUs that is this one's
  if (config.ffn) {
    const double share = static_cast<double>(config.ffn->system.gpus.count) /
                         static_cast<double>(config.system.gpus.count);
    costs = with_ffn(
        costs,
        costs_of(config.ffn->system, *sim.system, sim.accounting, Duration(time), GpuRole::ffn),
        share);
    gpus += share;
  }
  // The costs are for one GPU, the tokens for its whole replica.
  const double tokens = static_cast<double>(sim.graph.tokens) * tokens_of_step(config) /
                        static_cast<double>(config.parallel.devices());
  PricedStep out{.metrics = {}, .unstated = costs.unstated};
  const auto metric = [&](std::string_view name, double value, NumberClass by) {
    out.metrics[std::string(name)] = {value, std::string(find_metric(name)->unit), by};
  };
  if (costs.joules) {
    metric("energy_j_per_token", *costs.joules / tokens, costs.joules_class);
    metric("gpu_energy_j_per_token", *costs.gpu_joules / tokens, costs.joules_class);
    metric("power_w.mean", *costs.gpu_joules / gpus / to_seconds(Duration(time)),
           costs.joules_class);
  }
  if (costs.usd) metric("cost_usd_per_mtoken", *costs.usd / tokens * 1e6, costs.usd_class);
  return out;
}

void Recorder::costs() {
  const PricedStep priced = priced_step(config_, sim_);
  for (const auto& [name, each] : priced.metrics)
    metric(name, each.value, weakest(each.number_class, time_class_));
  record_.costs_unstated = priced.unstated;
}

}  // namespace tiersim
