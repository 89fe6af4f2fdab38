#pragma once
// The generator of random systems at flow level: flow_system.hpp.
#include "tests/property/flow_system.hpp"

namespace tiersim::testing {

/// Dependencies between operations.
enum class Order : std::uint8_t {
  serial,  ///< one after the other
  any,     ///< each after one of those before it, or after none
};

namespace detail {

inline FlowLink draw_link(Choices& c, const std::string& name, std::int64_t gpus) {
  FlowLink l;
  l.kind = static_cast<LinkKind>(c.pick(name + ".kind", 0, 3));
  l.rate = 1'000'000'000 * c.pick(name + ".GBps", 1, 64);
  if (l.kind == LinkKind::hop && c.flag(name + ".free")) l.rate = 0;
  l.latency = 1000 * c.pick(name + ".ns", 0, 500);
  l.header = 4 * c.pick(name + ".header", l.kind == LinkKind::nvlink ? 1 : 0, 8);
  if (gpus > 1) l.sharing = static_cast<Sharing>(c.pick(name + ".sharing", 0, 2));
  l.analytic = c.pick(name + ".level", 0, 7) == 7;
  return l;
}

inline FlowTier draw_tier(Choices& c, const std::string& name, const FlowSystem& s, bool own) {
  FlowTier t;
  t.rate = 1'000'000'000 * c.pick(name + ".GBps", 1, own ? 1000 : 100);
  t.latency = 1000 * c.pick(name + ".ns", 0, 300);
  t.pseudo_channels = c.power(name + ".channels", 0, 6);
  t.row_time = 1000 * c.pick(name + ".row_ns", 0, 40);
  if (own) return t;
  if (s.gpus > 1) t.sharing = static_cast<Sharing>(c.pick(name + ".sharing", 0, 2));
  for (std::size_t link = 0; link < s.links.size(); ++link)
    if (!c.flag(name + ".without_link" + std::to_string(link))) t.path.push_back(link);
  if (t.path.empty()) t.path.push_back(0);
  return t;
}

}  // namespace detail

inline FlowSystem draw_system(Choices& c, Order order) {
  FlowSystem s;
  s.hosts = c.pick("hosts", 1, 3);
  s.gpus = s.hosts * c.pick("gpus_of_host", 1, 4);
  s.launch = 1000 * c.pick("launch_ns", 0, 3000);
  s.descriptor_time = 1000 * c.pick("descriptor_ns", 0, 2000);
  s.engine_rate = 1'000'000'000 * c.pick("engine_GBps", 1, 100);
  s.in_flight = c.power("in_flight_bits", 12, 24);
  const std::int64_t links = c.pick("links", 1, 4);
  for (std::int64_t i = 0; i < links; ++i)
    s.links.push_back(detail::draw_link(c, "link" + std::to_string(i), s.gpus));
  const std::int64_t tiers = c.pick("tiers", 1, 3);
  for (std::int64_t i = 0; i <= tiers; ++i)
    s.tiers.push_back(detail::draw_tier(c, "tier" + std::to_string(i), s, i == 0));
  const std::int64_t ops = c.pick("ops", 1, 8);
  for (std::int64_t i = 0; i < ops; ++i) {
    const std::string name = "op" + std::to_string(i);
    FlowOp op;
    op.kernel = c.flag(name + ".kernel");
    if (!op.kernel) op.by_sm = c.flag(name + ".by_sm");
    op.writes = c.flag(name + ".writes");
    op.tier = static_cast<std::size_t>(tiers - c.pick(name + ".nearer", 0, tiers));
    op.run = c.power(name + ".run_bits", 5, 16);
    op.bytes = op.run * c.pick(name + ".runs", 1, 400);
    op.after = order == Order::serial ? i - 1 : c.pick(name + ".after", 0, i) - 1;
    s.ops.push_back(op);
  }
  c.note("# system:\n" + s.yaml() + s.ops_text());
  return s;
}

}  // namespace tiersim::testing
