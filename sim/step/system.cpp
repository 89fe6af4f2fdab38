#include "sim/step/system.hpp"
#include "sim/core/engine.hpp"

#include <algorithm>

#include "sim/step/payload_only.hpp"

namespace tiersim {
namespace {

Duration scaled(Duration time, double factor) {
  if (factor == 1) return time;
  return Duration(scale_up(Bytes::from_base(time.count()), factor).in_base());
}

// The access as the links and the tier see it, with the run length that the request engine uses.
Access requested(Access access, const Requester& engine) {
  const std::int64_t full = access.payload.in_base() / access.run.in_base();
  const Bytes rest = access.payload - access.run * full;
  access.run = engine.request_run(access.run);
  access.payload = access.run * full;
  if (rest > Bytes{}) access.payload += engine.request_run(rest);
  return access;
}

template <class T>
double joules_each(const Sourced<T>& energy) {
  constexpr double kBase = std::is_same_v<T, EnergyPerByte> ? 1e-15 : 1e-18;
  return static_cast<double>(energy.value.in_base()) * kBase;
}

}  // namespace

Duration OpPlan::uncontended(const std::vector<SystemChannel>& all) const {
  Duration body = min_duration;
  for (const auto& [channel, busy] : charges)
    body = std::max(body, busy / all[channel.index()].capacity);
  return setup + body;
}

System::System(const SystemConfig& config, PathScaling scaling, const TierShare& limit,
               std::optional<std::int64_t> gpus, std::shared_ptr<const ComputeUnit> gpu)
    : gpus_(gpus.value_or(config.gpus.count)),
      scaling_(std::move(scaling)),
      gpu_(gpu ? std::move(gpu) : config.gpu.spec->build()) {
  if (config.host) host_step_ = config.host->step.value;
  build_tiers(config, limit);
  build_power(config);
  for (const auto* engine : {&config.sm, &config.copy_engine}) {
    const std::string name(kRequesterNames[requesters_.size()]);
    Engine& built = requesters_.emplace_back();
    built.engine = engine->spec->build();
    built.first_channel =
        add_channels(name, built.engine->channels(),
                     {.name = {}, .capacity = {}, .level = engine->level}, scaling_.bandwidth);
  }
  if (config.cpu) {
    Engine& built = requesters_.emplace_back();
    built.engine = config.cpu->spec->build();
    built.first_channel =
        add_channels(std::string(name(RequesterKind::cpu)), built.engine->channels(),
                     {.name = {},
                      .capacity = {},
                      .sharers = std::min(config.gpus.count / config.gpus.hosts, gpus_),
                      .level = config.cpu->level},
                     1);
  }
  const bool held = std::ranges::any_of(
      requesters_, [](const Engine& engine) { return engine.engine->held_sms() > 0; });
  const Channel sms{"sms", own_peak_};
  if (held) sms_ = add_channels("gpu", {&sms, 1}, {}, 1);
  own_channel_count_ = channels_.size();
}

void System::build_tiers(const SystemConfig& config, const TierShare& limit) {
  const std::string_view scaled_tier = scaling_.tier;
  const auto place = [&](const std::string& name, const Device& device, const auto& configured,
                         std::int64_t units, bool scaled) {
    const DeviceId id(device_names_.size());
    device_names_.push_back(name);
    sharers_.push_back(std::min(config.sharers(name), gpus_));
    packet_models_.emplace_back();
    if (configured.level == Level::packet)
      packet_models_.back() = configured.spec->packet_model(units);
    const SystemChannel like{.name = {},
                             .capacity = {},
                             .sharers = sharers_.back(),
                             .level = configured.level,
                             .device = id};
    const std::size_t first =
        add_channels(name, device.channels(), like, scaled ? scaling_.bandwidth : 1.0);
    placed_.push_back({&device, id, first, scaled});
    return placed_.back();
  };
  const auto scaled_links = config.tiers.find(std::string(scaled_tier));
  for (const auto& [name, tier] : config.tiers) {
    tier_names_.push_back(name);
    Tier& built = tiers_.emplace_back();
    built.memory = tier.build();
    built.capacity = built.memory->capacity();
    if (name == limit.tier) built.capacity = scale_down(built.capacity, limit.share);
    built.remote = !tier.path.empty();
    built.devices.push_back(
        place(name, *built.memory, tier.memory, tier.unit_count(), name == scaled_tier));
    if (built.remote) continue;
    for (std::size_t c = built.devices.back().first_channel; c < channels_.size(); ++c) {
      own_channels_.emplace_back(c);
      own_peak_ = std::max(own_peak_, channels_[c].capacity);
    }
  }
  std::map<std::string, Placed> links;
  for (const auto& [name, link] : config.links) {
    const std::int64_t units = link.spec->has_units() ? config.units_behind(name) : 1;
    links_.push_back(link.spec->build_units(units));
    const bool scaled = scaled_links != config.tiers.end() &&
                        std::ranges::count(scaled_links->second.path, name) != 0;
    links[name] = place(name, *links_.back(), link, units, scaled);
    link_by_name_[name] = links_.back().get();
  }
  std::size_t next = 0;
  for (const auto& [name, tier] : config.tiers) {
    for (const std::string& link : tier.path) {
      tiers_[next].devices.push_back(links.at(link));
      tiers_[next].links.push_back(link_by_name_.at(link));
    }
    ++next;
  }
  build_fabrics(config, links);
}

void System::build_power(const SystemConfig& config) {
  const ComputePower& power = config.gpu.power;
  if (!power.power_limit) return;
  for (const auto& [name, tier] : config.tiers)
    own_energy_.push_back(tier.path.empty() ? joules_each(*tier.memory.costs.energy_per_byte) : 0);
  flop_energy_ = joules_each(*config.gpu.costs.energy_per_flop);
  PowerNumbers numbers{.limit = to_watts(*power.power_limit),
                       .idle = to_watts(config.gpu.costs.idle_power->value),
                       .active = to_watts(power.active_power->value),
                       .exponent = power.power_exponent->value,
                       .least_clock = power.least_clock->value};
  if (power.board_power) numbers.board = to_watts(power.board_power->value);
  power_cap_.emplace(numbers);
}

std::size_t System::add_channels(const std::string& device, std::span<const Channel> channels,
                                 const SystemChannel& like, double scale) {
  constexpr Bandwidth kMost = Bandwidth::from_base(std::int64_t{1} << 50U);  // flow_network.hpp
  const std::size_t first = channels_.size();
  for (const Channel& channel : channels) {
    const Bandwidth capacity = scale == 1 ? channel.capacity : scale_down(channel.capacity, scale);
    if (capacity > kMost || capacity == Bandwidth{}) throw UnitOverflow();
    channels_.push_back(
        {device + '.' + channel.name, capacity, like.sharers, like.level, like.device});
  }
  return first;
}

TierId System::tier(std::string_view name) const {
  const auto it = std::ranges::find(tier_names_, name);
  TS_EXPECTS(it != tier_names_.end(), name);
  return TierId(static_cast<std::size_t>(it - tier_names_.begin()));
}

const PacketModel* System::packet_model(DeviceId device) const {
  const auto& model = packet_models_[device.index()];
  return model ? &*model : nullptr;
}

const PacketNetwork* System::packet_network(Fabric purpose) const {
  const auto& fabric = fabrics_[static_cast<std::size_t>(purpose)];
  return fabric && fabric->packets ? &*fabric->packets : nullptr;
}

const Collective& System::collective(Fabric purpose) const {
  return *fabrics_[static_cast<std::size_t>(purpose)]->collective;
}

void System::charge(const AccessCost& cost, std::size_t first_channel, OpPlan& plan) const {
  for (const Charge& part : cost.charges) {
    const ChannelId id(first_channel + part.channel);
    const auto at = std::ranges::lower_bound(plan.charges, id, {}, &ChannelCharge::channel);
    if (at != plan.charges.end() && at->channel == id) {
      at->busy += part.busy;
    } else {
      plan.charges.insert(at, {id, part.busy});
    }
  }
}

void System::add_access(const Access& access, RequesterKind requester, OpPlan& plan) const {
  const Tier& tier = tiers_[access.tier.index()];
  TS_EXPECTS(static_cast<std::size_t>(requester) < requesters_.size(), name(requester));
  const Engine& engine = requesters_[static_cast<std::size_t>(requester)];
  const bool on_host = engine.engine->is_on_host();
  const Access seen = tier.remote ? requested(access, *engine.engine) : access;
  const std::size_t first_packets = plan.packets.size();
  Duration latency{};
  Duration memory_latency{};
  Duration in_packets{};  // the part of the latency that the packets produce
  bool link_packets = false;
  Duration issue{};
  for (const Placed& placed : tier.devices) {
    const AccessCost cost = placed.device->cost(seen.direction, seen.payload, seen.run);
    charge(cost, placed.first_channel, plan);
    const Duration adds = placed.scaled ? scaled(cost.latency, scaling_.latency) : cost.latency;
    latency += adds;
    // The memory comes first, then the links outward, each behind the earlier links.
    const bool is_memory = placed.id == tier.devices.front().id;
    if (is_memory) memory_latency = adds;
    for (std::size_t i = first_packets; i < plan.packets.size(); ++i)
      if (plan.packets[i].device != tier.devices.front().id) plan.packets[i].beyond += adds;
    if (link_packets) in_packets += adds;  // packets also pass the devices behind the link
    if (const PacketModel* model = packet_model(placed.id)) {
      const Duration beyond = is_memory ? Duration{} : memory_latency;
      plan.packets.push_back({placed.id, {seen.direction, seen.payload, seen.run}, beyond});
      if (!link_packets) in_packets = std::min(model->latency, adds) + beyond;
      link_packets = link_packets || !is_memory;
    }
    plan.min_duration +=
        placed.scaled ? scaled(cost.min_duration, 1 / scaling_.bandwidth) : cost.min_duration;
    if (!tier.remote) plan.own_bytes += cost.moved;
    plan.traffic.push_back(
        {placed.id, access.direction, access.tensor_class, access.payload, cost.moved});
    if (on_host) break;  // the memory alone
  }
  if (tier.remote) {
    const AccessCost cost = engine.engine->cost(access.direction, access.payload, access.run,
                                                {.unloaded = latency,
                                                 .memory = tier.memory.get(),
                                                 .links = tier.links,
                                                 .window = access.window});
    charge(cost, engine.first_channel, plan);
    issue = cost.latency;
    // The engine issues one part after another.
    plan.min_duration += scaled(cost.min_duration, 1 / scaling_.bandwidth);
  }
  latency -= in_packets;
  Duration& longest = tier.remote ? plan.remote_latency : plan.own_latency;
  longest = std::max(longest, latency);
  const Duration first_byte = std::max(plan.setup - plan.issue, latency);
  plan.issue += issue;  // one part after another, too
  plan.setup = first_byte + plan.issue;
  plan.payload += access.payload;
}

OpPlan System::plan(const Op& op) const {
  if (op.role == GpuRole::ffn || op.collective.fabric == Fabric::ffn) return plan_joined(op);
  OpPlan plan;
  if (op.kind == OpKind::host) {
    plan.setup = op.host_time > Duration{} ? op.host_time : host_step_;
    plan.setup_reason = "host";
  } else {
    plan = op.kind == OpKind::collective ? plan_collective(op) : plan_kernel(op);
    plan.setup += op.lookup;
    leave_to_packets(plan);
  }
  return plan;
}

void System::leave_to_packets(OpPlan& plan) const {
  for (const PacketDemand& demand : plan.packets) {
    const Placed& placed = placed_[demand.device.index()];
    const auto& [direction, payload, run] = demand.access;
    const AccessCost cost = placed.device->cost(direction, payload, run);
    const AccessCost least = payload_only(cost);
    for (std::size_t i = 0; i < cost.charges.size(); ++i) {
      const ChannelId id(placed.first_channel + cost.charges[i].channel);
      std::ranges::lower_bound(plan.charges, id, {}, &ChannelCharge::channel)->busy -=
          cost.charges[i].busy - least.charges[i].busy;
    }
  }
}

void System::keep_power(const Op& op, Duration memory, KernelTime& time, OpPlan& plan) const {
  plan.powered_flops = op.flops;
  plan.active_share = 1;
  if (!power_cap_ || op.kind != OpKind::compute) return;
  double joules = 0;
  for (const DeviceTraffic& part : plan.traffic)
    if (part.device.index() < own_energy_.size())
      joules += own_energy_[part.device.index()] * static_cast<double>(part.moved.in_base());
  const double flop_joules = flop_energy_ * static_cast<double>(op.flops.in_base());
  const LimitedKernel limited = power_cap_->limited({.memory_joules = joules,
                                                     .flop_joules = flop_joules,
                                                     .launch = op.fused ? Duration{} : time.launch,
                                                     .memory = time.own_memory.value_or(memory),
                                                     .compute = time.compute,
                                                     .body = time.body});
  time.body = limited.body;
  if (limited.flop_joules < flop_joules)
    plan.powered_flops = scale_up(op.flops, limited.flop_joules / flop_joules);
  if (limited.clock < 1) plan.active_share = power_cap_->active_share(limited.clock);
}

// Arithmetic takes longer on fewer SMs, and what waits for memory does not. A kernel that is at
// neither limit takes longer by as much as its arithmetic then exceeds the larger of both.
void System::lengthen_on_fewer_sms(const Op& op, Duration memory, KernelTime& time) {
  if (op.sm_share >= 1 || time.compute <= Duration{}) return;
  const Duration compute = scaled(time.compute, 1 / op.sm_share);
  const Duration before = std::max(time.compute, time.own_memory.value_or(memory));
  if (compute > before)
    time.body = scaled(time.body,
                       static_cast<double>(compute.count()) / static_cast<double>(before.count()));
  time.compute = compute;
}

OpPlan System::plan_kernel(const Op& op) const {
  OpPlan plan;
  for (const Access& access : op.accesses) add_access(access, op.requester, plan);
  plan.min_reason = "requests";
  // A transfer by SM loads is also launched like a kernel.
  const bool kernel = op.kind == OpKind::compute || op.requester == RequesterKind::sm;
  if (!kernel) return plan;

  const Duration memory = plan.uncontended(channels_) - plan.setup;
  KernelTime time = gpu_->time({.family = op.family,
                                .arithmetic = op.arithmetic,
                                .flops = op.flops,
                                .memory_time = memory,
                                .other_time = other_time(plan),
                                .memory_bytes = plan.own_bytes,
                                .memory_latency = plan.own_latency,
                                .memory_peak = own_peak_,
                                .matrix = op.matrix,
                                .attention = op.attention,
                                .experts = op.experts,
                                .linear = op.linear,
                                .indexed = op.indexed,
                                .warm = op.warm});
  time.launch -= std::min(dependent_launch_, time.launch);
  lengthen_on_fewer_sms(op, memory, time);
  keep_power(op, memory, time, plan);
  if (time.launch_has_latency) plan.setup = plan.remote_latency;
  plan.setup = op.fused ? plan.remote_latency : plan.setup + time.launch;
  if (op.kind == OpKind::transfer) {
    charge_sms(plan.uncontended(channels_) - plan.setup,
               requesters_[static_cast<std::size_t>(op.requester)].engine->held_sms(), plan);
    return plan;
  }
  plan.exclusive = true;
  plan.beyond_timed = time.beyond_timed;
  plan.timed_kernel = time.timed_kernel;
  plan.spread = time.spread;
  if (time.own_memory) take_of_own_memory(*time.own_memory, plan);
  if (time.body > plan.uncontended(channels_) - plan.setup) {
    // Otherwise the channels that memory waits for already set the time.
    plan.min_duration = time.body;
    plan.min_reason = time.compute >= memory ? "compute" : "kernel";
  }
  charge_sms(time.compute, op.sm_share, plan);
  return plan;
}

void System::charge_sms(Duration all_of_them, double share, OpPlan& plan) const {
  if (!sms_ || share <= 0) return;
  constexpr Int128 kPicoseconds = 1'000'000'000'000;
  const Int128 busy = Int128{all_of_them.count()} * own_peak_.in_base() / kPicoseconds;
  const Bytes taken = scale_down(Bytes::from_base(static_cast<std::int64_t>(busy)), share);
  if (taken > Bytes{}) charge({.charges = {{0, taken}}, .moved = {}}, *sms_, plan);
}

bool System::is_own(ChannelId channel) const {
  return std::ranges::find(own_channels_, channel) != own_channels_.end();
}

Duration System::other_time(const OpPlan& plan) const {
  Duration time = plan.min_duration;
  for (const auto& [channel, busy] : plan.charges)
    if (!is_own(channel)) time = std::max(time, busy / channels_[channel.index()].capacity);
  return time;
}

void System::take_of_own_memory(Duration time, OpPlan& plan) const {
  if (std::ranges::any_of(plan.packets, [&](const PacketDemand& d) {
        return d.device.index() < tiers_.size() && !tiers_[d.device.index()].remote;
      }))
    return;  // packets set their own time
  Duration modelled{};
  for (const auto& [channel, busy] : plan.charges)
    if (is_own(channel)) modelled = std::max(modelled, busy / channels_[channel.index()].capacity);
  if (modelled <= time) return;  // the rest of the kernel leaves the memory to others
  const double factor = static_cast<double>(time.count()) / static_cast<double>(modelled.count());
  for (auto& [channel, busy] : plan.charges)
    if (is_own(channel)) busy = scale_down(busy, factor);
}

OpPlans System::plan(const StepGraph& graph) const {
  // Layers repeat each other: most operations equal one shortly before them.
  constexpr std::size_t kLookBack = 64;
  OpPlans plans;
  plans.reserve(graph.ops.size());
  std::size_t back = 1;  // to the operation that the last one equals, which is a layer before
  for (std::size_t op = 0; op < graph.ops.size(); ++op) {
    std::size_t like = op;
    if (op >= back && same_work(graph.ops[op - back], graph.ops[op])) like = op - back;
    const std::size_t first = op > kLookBack ? op - kLookBack : 0;
    for (std::size_t at = op; like == op && at-- > first;)
      if (same_work(graph.ops[at], graph.ops[op])) like = at;
    if (like != op) back = op - like;
    if (like == op)
      plans.add(plan(graph.ops[op]));
    else
      plans.add_again(like);
  }
  return plans;
}

}  // namespace tiersim
