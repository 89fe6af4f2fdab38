#pragma once
// Properties of random systems at flow level. A property takes the model as a parameter, so that a
// test can plant a fault in a model and check that it is found.
#include <functional>

#include "tests/property/flow_system_draw.hpp"
#include "tests/support/invariants.hpp"

namespace tiersim::testing {

using FlowModel = std::function<Simulation(const FlowSystem&)>;

/// Engine >= bound, bytes of channels = accounting, and the other invariants of a step.
inline Property keeps_invariants(const FlowModel& model) {
  return [model](Choices& c) {
    std::string out;
    for (const std::string& broken : broken_invariants(model(draw_system(c, Order::any))))
      out += broken + "\n";
    return out;
  };
}

namespace detail {

/// A flow ends in the first whole picosecond after its exact end. It may be late by less than
/// another picosecond where its share is no whole number of quanta (flow_network.hpp).
inline Duration rounding(const FlowSystem& s) {
  return Duration(2 * static_cast<std::int64_t>(s.ops.size()));
}

inline std::string compared(std::string_view what, Duration before, Duration after) {
  return fmt::format("{}: {} ps before, {} ps after", what, before.count(), after.count());
}

inline std::int64_t multiple_of(std::int64_t unit, std::int64_t value) {
  return (value + unit - 1) / unit * unit;
}

/// Checks that no variant takes longer than the system.
inline std::string none_is_slower(const FlowModel& model, const FlowSystem& s,
                                  const std::vector<std::pair<std::string, FlowSystem>>& variants) {
  const Duration base = model(s).execution.time;
  for (const auto& [what, variant] : variants)
    if (const Duration time = model(variant).execution.time; time > base + rounding(s))
      return compared(what, base, time);
  return {};
}

}  // namespace detail

/// Serial steps of equal GPUs run in lock-step, so that the order of contention cannot change. More
/// of any capacity then never hurts.
inline Property wider_is_never_slower(const FlowModel& model) {
  return [model](Choices& c) {
    const FlowSystem s = draw_system(c, Order::serial);
    std::vector<std::pair<std::string, FlowSystem>> variants;
    const auto add = [&](std::string what) -> FlowSystem& {
      return variants.emplace_back(std::move(what), s).second;
    };
    for (std::size_t i = 0; i < s.links.size(); ++i)
      add(fmt::format("link{} of twice the rate", i)).links[i].rate *= 2;
    for (std::size_t i = 0; i < s.tiers.size(); ++i)
      add(fmt::format("tier{} of twice the rate", i)).tiers[i].rate *= 2;
    add("request engines of twice the rate").engine_rate *= 2;
    add("twice the bytes in flight").in_flight *= 2;
    add("twice the arithmetic").flop_rate *= 2;
    return detail::none_is_slower(model, s, variants);
  };
}

inline Property less_overhead_is_never_slower(const FlowModel& model) {
  return [model](Choices& c) {
    const FlowSystem s = draw_system(c, Order::serial);
    std::vector<std::pair<std::string, FlowSystem>> variants;
    const auto add = [&](std::string what) -> FlowSystem& {
      return variants.emplace_back(std::move(what), s).second;
    };
    for (std::size_t i = 0; i < s.links.size(); ++i) {
      add(fmt::format("link{} without latency", i)).links[i].latency = 0;
      const bool needs_one = s.links[i].kind == LinkKind::nvlink;
      add(fmt::format("link{} without headers", i)).links[i].header = needs_one ? 1 : 0;
    }
    for (std::size_t i = 0; i < s.tiers.size(); ++i) {
      add(fmt::format("tier{} without latency", i)).tiers[i].latency = 0;
      add(fmt::format("tier{} without row time", i)).tiers[i].row_time = 0;
    }
    add("no launch").launch = 0;
    add("no descriptors").descriptor_time = 0;
    return detail::none_is_slower(model, s, variants);
  };
}

/// One GPU more on each host: the step takes no less time, and the total throughput of the shared
/// devices is no lower, since links are never idle while work waits for them.
inline Property one_gpu_more_keeps_throughput(const FlowModel& model) {
  return [model](Choices& c) -> std::string {
    const FlowSystem s = draw_system(c, Order::serial);
    FlowSystem more = s;
    more.gpus += s.hosts;
    const Duration base = model(s).execution.time;
    const Duration time = model(more).execution.time;
    if (time < base - detail::rounding(s)) return detail::compared("faster", base, time);
    if ((time - detail::rounding(s)) * s.gpus > base * more.gpus)
      return detail::compared("less throughput", base * more.gpus / s.gpus, time);
    return {};
  };
}

/// Twice the GPUs on twice of all shared devices. Rates after coding, of 1 GB/s or more, are
/// rounded down to whole bytes a second, once in each of the runs.
inline Property twice_of_all_takes_as_long(const FlowModel& model) {
  return [model](Choices& c) -> std::string {
    const FlowSystem s = draw_system(c, Order::serial);
    FlowSystem twice = s;
    twice.gpus *= 2;
    for (FlowLink& link : twice.links)
      if ((s.gpus == 1 || link.sharing != Sharing::own) && !link.analytic) link.rate *= 2;
    for (std::size_t i = 1; i < s.tiers.size(); ++i) {
      FlowTier& tier = twice.tiers[i];
      if (s.gpus > 1 && tier.sharing == Sharing::own) continue;
      tier.rate *= 2;
      tier.pseudo_channels *= 2;
    }
    if (s.gpus == 1) {  // no device was shared
      for (FlowLink& link : twice.links) link.sharing = Sharing::all;
      for (FlowTier& tier : twice.tiers) tier.sharing = Sharing::all;
      twice.tiers[0].sharing = Sharing::own;
    }
    const Duration base = model(s).execution.time;
    const Duration time = model(twice).execution.time;
    const Duration slack = detail::rounding(s) + base / 450'000'000;
    const bool same = time - base <= slack && base - time <= slack;
    return same ? "" : detail::compared("not the same", base, time);
  };
}

/// All times doubled and all rates halved. The bytes in flight of a request engine give a rate in
/// whole bytes a second, here above 2e8: this changes its times by 1 in 2e8 at most, once in each
/// of the runs.
inline Property slower_clock_scales_times(const FlowModel& model) {
  return [model](Choices& c) -> std::string {
    const FlowSystem s = draw_system(c, Order::serial);
    FlowSystem slow = s;
    slow.launch *= 2;
    slow.descriptor_time *= 2;
    slow.engine_rate /= 2;
    slow.flop_rate /= 2;
    for (FlowLink& link : slow.links) link.latency *= 2, link.rate /= 2;
    for (FlowTier& tier : slow.tiers) tier.latency *= 2, tier.row_time *= 2, tier.rate /= 2;
    const Duration twice = 2 * model(s).execution.time;
    const Duration time = model(slow).execution.time;
    const Duration slack = 2 * detail::rounding(s) + twice / 100'000'000;
    return time - twice <= slack && twice - time <= slack
               ? ""
               : detail::compared("not twice as long", twice, time);
  };
}

/// Each operation in two halves, one after the other. This adds its setup once more and rounding
/// only: of rates by bytes in flight, as above, and of channel bytes, which are whole for each
/// operation and take a nanosecond a GPU on the slowest channels.
inline Property half_chunks_add_their_setup(const FlowModel& model) {
  return [model](Choices& c) -> std::string {
    FlowSystem s = draw_system(c, Order::serial);
    for (FlowOp& op : s.ops) op.bytes = detail::multiple_of(2 * op.run, op.bytes);
    FlowSystem halves = s;
    halves.ops.clear();
    for (FlowOp op : s.ops)
      for (int half = 0; half < 2; ++half) {
        op.after = static_cast<std::int64_t>(halves.ops.size()) - 1;
        halves.ops.push_back(op);
        halves.ops.back().bytes /= 2;
      }
    const Simulation whole = model(s);
    Duration expected = whole.execution.time;
    for (const OpPlan& plan : whole.plans) expected += plan.setup;
    const Duration time = model(halves).execution.time;
    const auto bytes = s.gpus * static_cast<std::int64_t>(halves.ops.size());
    const Duration slack =
        detail::rounding(halves) + expected / 100'000'000 + Duration(1000) * bytes;
    return time - expected <= slack && expected - time <= slack
               ? ""
               : detail::compared("not the setup more", expected, time);
  };
}

/// Copies that all begin at once have no order.
inline Property order_of_copies_is_nothing(const FlowModel& model) {
  return [model](Choices& c) -> std::string {
    FlowSystem s = draw_system(c, Order::any);
    for (FlowOp& op : s.ops) op.kernel = false, op.after = -1;
    FlowSystem turned = s;
    std::ranges::reverse(turned.ops);
    const Simulation one = model(s);
    const Simulation other = model(turned);
    const std::size_t n = s.ops.size();
    for (std::size_t op = 0; op < n; ++op) {
      const Duration before = one.execution.timings[op].end.time_since_epoch();
      const Duration after = other.execution.timings[n - 1 - op].end.time_since_epoch();
      if (before != after) return detail::compared(fmt::format("operation {}", op), before, after);
    }
    return {};
  };
}

}  // namespace tiersim::testing
