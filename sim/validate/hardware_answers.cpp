#include "sim/validate/hardware_answers.hpp"

#include <algorithm>

#include "hwmodels/collective/pieces.hpp"
#include "hwmodels/topology/topology.hpp"
#include "sim/core/engine.hpp"
#include "sim/core/flow_network.hpp"

namespace tiersim {
namespace {

using namespace literals;

constexpr double kPicosecondsPerNanosecond = 1e3;

// The cost of an access at one device.
struct Part {
  const Device* device = nullptr;
  std::span<const Channel> channels;
  AccessCost cost;

  /// The time without contention.
  Duration body() const {
    Duration longest = cost.min_duration;
    for (const Charge& charge : cost.charges)
      longest = std::max(longest, charge.busy / channels[charge.channel].capacity);
    return longest;
  }
};

// The built hardware of a curve.
class Hardware {
 public:
  Hardware(const HardwareCurve& curve, const ProbeWorkload& asked,
           const std::optional<DeviceConfig<Requester>>& requester) {
    if (curve.memory) memory_ = curve.memory->spec->build();
    if (asked.cpu_rate)
      memory_ = beside(std::move(memory_), {.rate = {.value = *asked.cpu_rate}, .read_share = 1});
    for (const DeviceConfig<Link>& link : curve.links) {
      links_.push_back(link.spec->build());
      ways_.push_back(links_.back().get());
    }
    if (requester) requester_ = requester->spec->build();
  }

  const MemoryTier* memory() const { return memory_.get(); }
  const Link& port() const { return *links_.front(); }
  PortPath port_path(const Topology* topology) const {
    PortPath path{.topology = topology};
    path.bandwidth = std::ranges::min(port().channels(), {}, &Channel::capacity).capacity;
    for (const auto& link : links_) path.latency += link->cost(Direction::write, 1_B, 1_B).latency;
    return path;
  }

  /// The queueing delay on the path and in the memory.
  Duration added_latency(Bandwidth rate, double read_share, Bytes run) const {
    Duration time = memory_ ? memory_->added_latency(rate, read_share, run) : Duration{};
    for (const Link* link : ways_) time += link->added_latency(rate, read_share, run);
    return time;
  }

  /// All devices on the access's path: requester, links, memory.
  std::vector<Part> parts(Direction direction, Bytes payload, Bytes run) const {
    std::vector<Part> out;
    const Bytes requested = requester_ ? requester_->request_run(run) : run;
    const Bytes whole = requested * (payload.in_base() / run.in_base());
    if (requester_)
      out.push_back({nullptr, requester_->channels(),
                     requester_->cost(direction, payload, run, round_trip(direction, requested))});
    for (const auto& link : links_)
      out.push_back({link.get(), link->channels(), link->cost(direction, whole, requested)});
    if (memory_)
      out.push_back(
          {memory_.get(), memory_->channels(), memory_->cost(direction, whole, requested)});
    return out;
  }

 private:
  RoundTrip round_trip(Direction direction, Bytes run) const {
    RoundTrip trip{.unloaded = {}, .memory = memory_.get(), .links = ways_};
    TS_EXPECTS(memory_ != nullptr, "a requester waits for a memory");
    for (const Link* link : ways_) trip.unloaded += link->cost(direction, run, run).latency;
    trip.unloaded += memory_->cost(direction, run, run).latency;
    return trip;
  }

  std::unique_ptr<MemoryTier> memory_;
  std::vector<std::unique_ptr<Link>> links_;
  std::vector<const Link*> ways_;  // pointers to links_
  std::unique_ptr<Requester> requester_;
};

// The collective of a curve, with the topology that it is routed over.
struct BuiltCollective {
  std::unique_ptr<Collective> collective;
  std::unique_ptr<Topology> topology;

  explicit BuiltCollective(const HardwareCurve& curve) {
    if (curve.collective) collective = curve.collective->spec->build();
    if (curve.topology) topology = std::make_unique<Topology>(*curve.topology);
  }
};

// The reads and writes of a saturating workload.
struct Mix {
  Bytes run;
  Bytes read;
  Bytes write;

  explicit Mix(const ProbeWorkload& asked) : run(asked.run.value_or(4_KiB)) {
    constexpr std::int64_t kEnough = 1 << 20;  // to hide whole runs in the share
    const std::int64_t runs = asked.items.value_or(kEnough);
    const auto reads =
        static_cast<std::int64_t>(asked.read_share.value_or(1) * static_cast<double>(runs));
    read = run * reads;
    write = run * (runs - reads);
  }
  Bytes payload() const { return read + write; }
};

// Every access takes as long as alone.
Duration time_alone(const Hardware& hardware, const Mix& mix) {
  Duration longest{};
  for (const auto& [direction, payload] :
       {std::pair{Direction::read, mix.read}, std::pair{Direction::write, mix.write}})
    if (payload > Bytes{})
      for (const Part& part : hardware.parts(direction, payload, mix.run))
        longest = std::max(longest, part.body());
  return longest;
}

class Ignored final : public EventHandler {
 public:
  void on_event(Engine&, std::uint64_t) override {}
};

// Reads and writes are one flow each, over the channels of every device.
Duration time_together(const Hardware& hardware, const Mix& mix) {
  Engine engine;
  FlowNetwork network(engine);
  Ignored ignored;
  std::vector<std::vector<LinkId>> links;
  for (const auto& [direction, payload] :
       {std::pair{Direction::read, mix.read}, std::pair{Direction::write, mix.write}}) {
    if (payload == Bytes{}) continue;
    const std::vector<Part> parts = hardware.parts(direction, payload, mix.run);
    std::vector<Hop> hops;
    Duration least{};
    for (std::size_t d = 0; d < parts.size(); ++d) {
      if (links.size() == d) {
        links.emplace_back();
        for (const Channel& channel : parts[d].channels)
          links.back().push_back(network.add_link(channel.name, channel.capacity));
      }
      least = std::max(least, parts[d].cost.min_duration);
      for (const Charge& charge : parts[d].cost.charges) {
        hops.push_back({links[d][charge.channel], charge.busy});
      }
    }
    const auto weight = std::max<std::int64_t>(
        1, payload.in_base() / mix.run.in_base() / 1024);  // both end together
    network.start({.hops = hops, .payload = payload, .weight = weight, .min_duration = least},
                  ignored);
  }
  engine.run();
  return engine.now().time_since_epoch();
}

CollectiveKind operation_of(const ProbeWorkload& asked) {
  return asked.operation.value_or(CollectiveKind::all_reduce);
}

Duration collective_time(const Hardware& hardware, const BuiltCollective& built,
                         const ProbeWorkload& asked) {
  const Link& port = hardware.port();
  const CollectiveCost cost =
      built.collective->cost({operation_of(asked), Fabric::tensor, *asked.size,
                              asked.ranks.value_or(8), asked.copies.value_or(1)},
                             hardware.port_path(built.topology.get()));
  Duration longest = cost.min_duration;
  for (const AccessCost& way :
       {port.cost(Direction::write, cost.out, cost.run), port.incoming(cost.in, cost.run)})
    longest = std::max(longest, Part{&port, port.channels(), way}.body());
  return std::max(cost.latency + longest, asked.launch.value_or(Duration{}));
}

// The time of one run through all devices, with the time of its bytes in each link.
Duration unloaded(const Hardware& hardware, Bytes run) {
  Duration sum{};
  for (const Part& part : hardware.parts(Direction::read, run, run))
    if (part.device != nullptr)
      sum += part.cost.latency + (part.device == hardware.memory() ? Duration{} : part.body());
  return sum;
}

// Before the first byte of a copy moves.
Duration start_of(const Hardware& hardware, const Mix& mix) {
  Duration longest{};
  for (const auto& [direction, payload] :
       {std::pair{Direction::read, mix.read}, std::pair{Direction::write, mix.write}}) {
    if (payload == Bytes{}) continue;
    Duration sum{};
    for (const Part& part : hardware.parts(direction, payload, mix.run)) sum += part.cost.latency;
    longest = std::max(longest, sum);
  }
  return longest;
}

Duration time_of(const Hardware& hardware, const ProbeWorkload& asked, bool loaded) {
  const Mix mix(asked);
  const Duration start = asked.items ? start_of(hardware, mix) : Duration{};
  return start + (loaded ? time_together(hardware, mix) : time_alone(hardware, mix));
}

LevelResult in_unit(const HardwareCurve& curve, const Hardware& hardware, const Mix& mix,
                    Duration time) {
  const double payload = static_cast<double>(mix.payload().in_base());
  const double rate = payload / to_seconds(time) / kGiga;
  switch (curve.facts.quantity) {
    case ProbeQuantity::share_of_peak:
      return {rate * kGiga /
              static_cast<double>(hardware.memory()->channels().front().capacity.in_base())};
    case ProbeQuantity::accesses:
      return {rate / static_cast<double>(mix.run.in_base())};
    default:
      return {rate};
  }
}

LevelResult of_collective(const HardwareCurve& curve, const ProbeWorkload& asked, Duration time) {
  const double us = to_seconds(time) * 1e6;
  if (curve.facts.quantity == ProbeQuantity::time) return {us};
  return {bus_share(operation_of(asked), asked.ranks.value_or(8)) *
          static_cast<double>(asked.size->in_base()) / us / 1e3};
}

// Neighbouring runs of a stream queue as one long run.
Bytes run_of_queue(const ProbeWorkload& asked) {
  const Bytes run = asked.run.value_or(4_KiB);
  const ProbePattern pattern = asked.pattern.value_or(ProbePattern::sequential);
  return pattern == ProbePattern::sequential ? std::max(run, 4_KiB) : run;
}

LevelResult read_level(const HardwareCurve& curve, const BuiltCollective& built,
                       const ReferencePoint& point, bool loaded) {
  const ProbeWorkload asked = point.at.over(curve.at);
  const Hardware hardware(curve, asked, curve.requester);
  if (curve.collective) return of_collective(curve, asked, collective_time(hardware, built, asked));
  const Mix mix(asked);
  if (curve.facts.quantity == ProbeQuantity::latency) {
    Duration time = unloaded(hardware, mix.run);
    if (loaded && asked.rate)
      time +=
          hardware.added_latency(*asked.rate, asked.read_share.value_or(1), run_of_queue(asked));
    return {static_cast<double>(time.count()) / kPicosecondsPerNanosecond};
  }
  const Duration time = time_of(hardware, asked, loaded);
  if (!curve.against) return in_unit(curve, hardware, mix, time);
  return {to_seconds(time) / to_seconds(time_of({curve, asked, curve.against}, asked, loaded))};
}

}  // namespace

LevelResult analytic_result(const HardwareCurve& curve, const ReferencePoint& point) {
  return read_level(curve, BuiltCollective(curve), point, false);
}

LevelResult flow_result(const HardwareCurve& curve, const ReferencePoint& point) {
  return read_level(curve, BuiltCollective(curve), point, true);
}

CurveReading read_curve(const HardwareCurve& curve) {
  const BuiltCollective built(curve);  // with what it knows of a topology, for all points
  CurveReading out{.facts = curve.facts, .points = {}};
  for (const ReferencePoint& point : curve.points)
    out.points.push_back(
        {.point = point,
         .readings = {read_level(curve, built, point, false), read_level(curve, built, point, true),
                      packet_result(curve, point)}});
  return out;
}

}  // namespace tiersim
