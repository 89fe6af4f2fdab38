#pragma once
// Random CXL.mem pools at packet level, with the properties of every one of them. A property takes
// the model as a parameter, so that a test can plant a fault in a model and check that it is found.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "hwmodels/packet/cxl/cxl_probe.hpp"
#include "tests/property/packet_properties.hpp"

namespace tiersim::testing {

struct CxlCase {
  CxlPacketConfig config;
  CxlProbe probe;
};
using CxlModel = std::function<CxlProbeResult(const CxlCase&)>;

inline CxlProbeResult run(const CxlCase& c) {
  return run_cxl_probe(c.config, c.probe);
}

/// Rate before coding; after coding a byte takes an even number of picoseconds.
inline Bandwidth draw_raw(Choices& c, const CxlPacketConfig& p, const std::string& name) {
  const Bandwidth rate = draw_rate(c, name);
  return p.flit.value == Bytes::from_base(256) ? rate
                                               : Bandwidth::from_base(rate.in_base() / 64 * 65);
}

inline CxlCase draw_cxl(Choices& c) {
  CxlCase out;
  CxlPacketConfig& p = out.config;
  if (c.flag("large_flits")) p.flit.value = Bytes::from_base(256);
  p.raw.value = draw_raw(c, p, "raw");
  p.flight.value = draw_ns(c, "flight_ns", 30);
  p.credits.requests.value = c.power("request_bits", 0, 7);
  p.credits.writes.value = c.power("write_bits", 0, 7);
  p.credits.responses.value = c.power("response_bits", 0, 7);
  p.host.outstanding.value = c.power("host_bits", 0, 8);
  p.host.latency.value = 2 * draw_ns(c, "host_ns", 100);
  p.device.outstanding.value = c.power("device_bits", 0, 7);
  p.device.latency.value = 2 * draw_ns(c, "device_ns", 100);
  p.device.memory_latency.value = draw_ns(c, "memory_ns", 200);
  if (c.flag("limited_memory")) p.device.memory_rate = {.value = draw_rate(c, "memory_rate")};
  CxlProbe& q = out.probe;
  if (c.flag("switch")) {
    CxlSwitch& s = p.pool_switch.emplace();
    s.latency.value = draw_ns(c, "switch_ns", 100);
    s.queues = static_cast<SwitchQueues>(c.pick("queues", 0, 1));
    s.device_raw = {.value = draw_raw(c, p, "device_raw")};
    q.hosts = c.pick("hosts", 1, 4);
    q.devices = c.pick("devices", 1, 4);
    if (c.flag("weighted"))
      for (std::int64_t i = 0; i < q.hosts; ++i)
        s.weights.push_back(c.pick("weight" + std::to_string(i), 1, 4));
  }
  q.size = Bytes::from_base(64 * c.power("size_bits", 0, 4));
  q.read_share = c.one_of<double>("reads", {1.0, 0.0, 0.5});
  q.addresses = static_cast<CxlProbe::Addresses>(c.pick("random", 0, 1));
  q.interleave = Bytes::from_base(c.power("interleave_bits", 6, 12));
  q.outstanding = c.pick("outstanding", 1, 200);
  q.accesses = c.pick("accesses", 1, 300);
  q.warm_up = 0;
  q.seed = static_cast<std::uint64_t>(c.pick("seed", 0, 1'000'000));
  return out;
}

inline Property cxl_conserves(const CxlModel& model) {
  return [model](Choices& c) -> std::string {
    CxlCase drawn = draw_cxl(c);
    if (c.flag("tail"))
      drawn.config.device.tail =
          CxlTail{.share = {.value = 0.1}, .mean = {.value = Duration(500'000)}};
    const CxlProbeResult r = model(drawn);
    const std::int64_t asked = drawn.probe.accesses * drawn.probe.hosts;
    const std::int64_t lines = asked * drawn.probe.size.in_base() / 64;
    if (r.accesses != asked) return "accesses are lost";
    // A message each way for every line, over one link or two.
    if (r.messages != lines * 2 * (drawn.config.pool_switch ? 2 : 1)) return "messages are lost";
    if (r.messages_left_behind != 0) return "messages are left behind";
    if (r.credits_held != 0) return "credits are held at the end";
    if (r.credits_issued != r.messages) return "a message without its credit";
    if (r.most_at_device > drawn.config.device.outstanding.value) return "more at work than may be";
    if (std::max(r.slots_used_down, r.slots_used_up) > 1) return "more slots than there are";
    const double area = r.mean_in_system * static_cast<double>(r.elapsed.count());
    if (std::abs(area - static_cast<double>(r.stays)) > kLittleSlack * area)
      return "the integral of accesses in flight is not the sum of their stays";
    const Bytes flits = drawn.config.flit.value * std::max(r.flits_down, r.flits_up);
    if (flits / flit_rate(drawn.config, drawn.config.raw.value) > r.elapsed)
      return "a link beyond its rate";
    return {};
  };
}

/// All times twice as long, all rates half as high.
inline CxlCase slowed(CxlCase c) {
  CxlPacketConfig& p = c.config;
  p.raw.value = half(p.raw.value);
  for (Sourced<Duration>* time :
       {&p.flight, &p.host.latency, &p.device.latency, &p.device.memory_latency})
    time->value *= 2;
  if (p.device.memory_rate) p.device.memory_rate->value = half(p.device.memory_rate->value);
  if (p.pool_switch) {
    p.pool_switch->latency.value *= 2;
    p.pool_switch->device_raw->value = half(p.pool_switch->device_raw->value);
  }
  return c;
}

inline Property cxl_scales_with_the_clock(const CxlModel& model) {
  return [model](Choices& c) -> std::string {
    const CxlCase drawn = draw_cxl(c);
    const CxlProbeResult one = model(drawn);
    const CxlProbeResult two = model(slowed(drawn));
    return two.elapsed == 2 * one.elapsed && two.stays == 2 * one.stays
               ? ""
               : compared_times("not twice as long", 2 * one.elapsed, two.elapsed);
  };
}

inline std::vector<std::pair<std::string, CxlCase>> cxl_made_better(const CxlCase& drawn) {
  std::vector<std::pair<std::string, CxlCase>> out;
  const auto add = [&](std::string what) -> CxlPacketConfig& {
    return out.emplace_back(std::move(what), drawn).second.config;
  };
  add("twice the rate").raw.value = drawn.config.raw.value * 2;
  if (drawn.config.pool_switch) {
    CxlSwitch& s = *add("twice the devices' rate").pool_switch;
    s.device_raw->value = s.device_raw->value * 2;
    add("no switch latency").pool_switch->latency.value = {};
  }
  add("no flight").flight.value = {};
  add("no latency of the device").device.latency.value = {};
  add("no latency of the memory").device.memory_latency.value = {};
  add("no limit of the memory").device.memory_rate.reset();
  add("twice the host's lines").host.outstanding.value *= 2;
  add("twice the device's lines").device.outstanding.value *= 2;
  CxlCredits& credits = add("twice the credits").credits;
  credits.requests.value *= 2, credits.writes.value *= 2, credits.responses.value *= 2;
  return out;
}

/// Largest delay of the last access after an improvement. Several hosts or devices may then
/// interleave in another way: up to 8 % in 2000 draws. One host at one device never loses a
/// picosecond.
inline constexpr double kCxlOutOfStep = 0.1;

/// Traffic of one direction, equal turns, 68 B flits. A flit leaves as soon as it is not empty, and
/// lines that come a little later share one. A few lines may thus take a third longer when the
/// latency of a host does not spread them, and with 256 B flits when no latency does.
inline Property cxl_better_is_never_slower(const CxlModel& model) {
  return [model](Choices& c) -> std::string {
    CxlCase drawn = draw_cxl(c);
    if (drawn.config.flit.value == Bytes::from_base(256)) return {};
    drawn.probe.read_share = std::round(drawn.probe.read_share);
    const bool alone = drawn.probe.hosts * drawn.probe.devices == 1;
    if (!alone) {
      drawn.probe.addresses = CxlProbe::Addresses::random;
      drawn.probe.accesses += 300;
      drawn.config.pool_switch->weights.clear();
    }
    const Duration base = model(drawn).elapsed;
    for (const auto& [what, better] : cxl_made_better(drawn))
      if (const Duration time = model(better).elapsed;
          is_longer(time, base, alone ? 0 : kCxlOutOfStep))
        return compared_times(what, base, time);
    return {};
  };
}

/// One host more: the total throughput is no lower and the time no shorter, where each host has
/// enough in flight to fill the flits of the device's link, and there is a queue for each output.
/// (With few lines in flight a further host separates lines that shared a flit: up to 20 % less.
/// From one queue for all, lines to alternating hosts get a flit each, of 256 B: half as much.)
inline Property cxl_one_host_more_keeps_throughput(const CxlModel& model) {
  return [model](Choices& c) -> std::string {
    CxlCase drawn = draw_cxl(c);
    if (!drawn.config.pool_switch) return {};
    drawn.probe.read_share = std::round(drawn.probe.read_share);
    drawn.probe.addresses = CxlProbe::Addresses::random;
    drawn.probe.accesses += 300;
    drawn.config.pool_switch->weights.clear();
    drawn.probe.outstanding = drawn.config.host.outstanding.value = 64;
    drawn.config.device.outstanding.value = 256;
    drawn.config.credits = {};
    drawn.config.pool_switch->device_raw = drawn.config.raw;
    drawn.config.pool_switch->queues = SwitchQueues::virtual_output;
    CxlCase more = drawn;
    ++more.probe.hosts;
    const Duration base = model(drawn).elapsed;
    const Duration time = model(more).elapsed;
    const Duration share = base * more.probe.hosts / drawn.probe.hosts;
    if (is_longer(time, share, kCxlOutOfStep))
      return compared_times("less throughput", share, time);
    if (is_longer(base, time, kCxlOutOfStep)) return compared_times("sooner", base, time);
    return {};
  };
}

/// Accesses of 4 KiB in halves of 2 KiB, with as many lines in flight.
inline Property cxl_half_chunks_change_little(const CxlModel& model) {
  return [model](Choices& c) -> std::string {
    CxlCase drawn = draw_cxl(c);
    drawn.probe.hosts = drawn.probe.devices = 1;
    if (drawn.config.pool_switch) drawn.config.pool_switch->weights.clear();
    drawn.probe.read_share = std::round(drawn.probe.read_share);
    drawn.probe.addresses = CxlProbe::Addresses::sequential;
    drawn.probe.size = Bytes::from_base(4096);
    drawn.probe.outstanding = 1024;  // the host accepts fewer
    drawn.probe.accesses = 200;
    CxlCase halves = drawn;
    halves.probe.size = Bytes::from_base(2048);
    halves.probe.accesses *= 2;
    const Duration base = model(drawn).elapsed;
    const Duration time = model(halves).elapsed;
    if (is_longer(time, base, 0.01) || is_longer(base, time, 0.01))
      return compared_times("halves", base, time);
    return {};
  };
}

/// The same hosts in another order: as many messages, in about the same time.
inline Property cxl_order_of_hosts_is_nothing(const CxlModel& model) {
  return [model](Choices& c) -> std::string {
    CxlCase drawn = draw_cxl(c);
    if (!drawn.config.pool_switch || drawn.config.pool_switch->weights.empty()) return {};
    drawn.probe.read_share = std::round(drawn.probe.read_share);
    drawn.probe.addresses = CxlProbe::Addresses::sequential;
    drawn.probe.accesses += 100;
    CxlCase turned = drawn;
    std::ranges::reverse(turned.config.pool_switch->weights);
    const CxlProbeResult one = model(drawn);
    const CxlProbeResult other = model(turned);
    if (one.messages != other.messages || one.accesses != other.accesses) return "other totals";
    if (is_longer(one.elapsed, other.elapsed, kCxlOutOfStep) ||
        is_longer(other.elapsed, one.elapsed, kCxlOutOfStep))
      return compared_times("in another order", one.elapsed, other.elapsed);
    return {};
  };
}

}  // namespace tiersim::testing
