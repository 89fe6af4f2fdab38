#pragma once
// Random scripts of flows that shrink, for what must hold between two scripts.
#include <algorithm>
#include <string>

#include "tests/property/flow_replay.hpp"
#include "tests/support/choices.hpp"

namespace tiersim::flow_reference {

using testing::Choices;

/// Any capacity from 1 B/s to 1 TB/s: hardly anything is exact.
inline Script draw_ragged(Choices& c, std::int64_t links_most = 6) {
  Script script;
  const std::int64_t links = c.pick("links", 1, links_most);
  for (std::int64_t l = 0; l < links; ++l)
    script.capacity.push_back(c.pick("capacity" + std::to_string(l), 1, 1'000'000'000'000));
  const std::int64_t flows = c.pick("flows", 1, 12);
  for (std::int64_t f = 0; f < flows; ++f) {
    const std::string name = "flow" + std::to_string(f);
    ScriptFlow flow;
    flow.start = c.pick(name + ".start", 0, 2'000'000);
    flow.payload = c.pick(name + ".payload", 1, 1'000'000);
    flow.weight = c.pick(name + ".weight", 1, 5);
    if (c.flag(name + ".capped")) flow.min_duration = c.pick(name + ".least", 1, 5'000'000);
    for (std::int64_t l = 0; l < links; ++l)
      if (l == 0 || !c.flag(name + ".not_on" + std::to_string(l)))
        flow.hops.push_back({static_cast<std::size_t>(l),
                             flow.payload + c.pick(name + ".more_on" + std::to_string(l), 0, 500)});
    script.flows.push_back(flow);
  }
  std::ranges::stable_sort(script.flows, {}, &ScriptFlow::start);
  return script;
}

/// One whose every share and instant is exact: up to four equal flows on two links, so that shares
/// are whole parts of capacities by 2, 3, 4, 6, 8, 9, 12 or 16, and payloads are multiples of these
/// parts over all instants.
inline Script draw_exact(Choices& c) {
  constexpr std::int64_t kUnit = (std::int64_t{1} << 24U) * 729 * 15'625;
  Script script;
  const std::int64_t links = c.pick("links", 1, 2);
  for (std::int64_t l = 0; l < links; ++l)
    script.capacity.push_back(200'000'000'000 * (1 + c.pick("capacity" + std::to_string(l), 0, 1)));
  const std::int64_t flows = c.pick("flows", 1, 4);
  for (std::int64_t f = 0; f < flows; ++f) {
    const std::string name = "flow" + std::to_string(f);
    ScriptFlow flow;
    flow.start = 5 * kUnit * c.pick(name + ".start", 0, 4);
    flow.payload = kUnit * c.pick(name + ".payload", 1, 5);
    const std::int64_t on = c.pick(name + ".on", 0, links == 2 ? 2 : 0);
    if (on != 1) flow.hops.push_back({0, flow.payload});
    if (on != 0) flow.hops.push_back({1, flow.payload});
    script.flows.push_back(flow);
  }
  std::ranges::stable_sort(script.flows, {}, &ScriptFlow::start);
  return script;
}

}  // namespace tiersim::flow_reference
