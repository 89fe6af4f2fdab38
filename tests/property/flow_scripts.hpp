#pragma once
// Random scripts for the property tests of the flow network.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "sim/base/rng.hpp"
#include "tests/property/flow_replay.hpp"

namespace tiersim::flow_reference {

/// Distribution of the numbers of a random script.
enum class Style : std::uint8_t {
  round,   ///< whole GB/s, kilobytes and microseconds: many ties and exact shares
  ragged,  ///< any capacity from 1 B/s to 1 TB/s: hardly anything is exact
  equal,   ///< all links alike
};

inline std::int64_t below(Rng& rng, std::int64_t n) {
  return static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(n)));
}

/// A network of up to `links` links and `flows` flows with overheads, weights and caps.
inline Script random_script(Rng& rng, Style style, std::size_t links, std::size_t flows) {
  Script script;
  const std::size_t link_count = 1 + rng.below(links);
  const std::size_t flow_count = 1 + rng.below(flows);
  for (std::size_t l = 0; l < link_count; ++l)
    script.capacity.push_back(style == Style::round    ? 1'000'000'000 * (1 + below(rng, 8))
                              : style == Style::ragged ? 1 + below(rng, 1'000'000'000'000)
                                                       : 64'000'000'000);
  for (std::size_t f = 0; f < flow_count; ++f) {
    ScriptFlow flow;
    const std::int64_t unit = style == Style::round ? 1000 : 1;
    flow.start = rng.below(3) == 0 ? 0 : below(rng, 2'000'000) * unit;
    flow.payload = style == Style::round ? 1000 * (1 + below(rng, 50)) : 1 + below(rng, 1'000'000);
    flow.weight = rng.below(3) != 0 ? 1 : 1 + below(rng, 5);
    if (rng.below(4) == 0) flow.min_duration = 1 + below(rng, 5'000'000);
    for (std::size_t l = 0; l < link_count; ++l)
      if (rng.below(link_count) < 2)
        flow.hops.push_back(
            {l, rng.below(2) == 0 ? flow.payload : flow.payload + below(rng, flow.payload)});
    if (flow.hops.empty() && flow.min_duration == 0) flow.min_duration = 5;
    script.flows.push_back(flow);
  }
  std::stable_sort(script.flows.begin(), script.flows.end(),
                   [](const ScriptFlow& a, const ScriptFlow& b) { return a.start < b.start; });
  return script;
}

inline Style style_of(std::uint64_t seed) {
  return static_cast<Style>(seed % 3);
}

}  // namespace tiersim::flow_reference
