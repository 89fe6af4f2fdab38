#pragma once
// The reference of the flow network: full progressive filling as in the textbook (Bertsekas and
// Gallager, Data Networks, 6.5.2), over all flows every time, for any number type. With rationals
// it is exact; with double it is the baseline of the network's speed.
#include <cstddef>
#include <vector>

namespace tiersim::flow_reference {

/// wire / payload of a flow on one link.
template <class Number>
struct Use {
  std::size_t link;
  Number wire_per_payload;
};

template <class Number>
struct Demand {
  std::vector<Use<Number>> uses;
  Number weight = 1;
  Number rate_max = 0;  ///< payload per second; 0: no cap
};

/// Payload per second of every demand: weighted max-min fair. Every demand needs a cap or a use.
template <class Number>
std::vector<Number> fill(const std::vector<Number>& capacity,
                         const std::vector<Demand<Number>>& demands) {
  std::vector<Number> rate(demands.size(), Number(0));
  std::vector<bool> frozen(demands.size(), false);
  std::vector<Number> left(capacity), load(capacity.size(), Number(0));
  std::vector<std::vector<std::size_t>> users(capacity.size());
  std::vector<std::size_t> open(capacity.size(), 0), capped;
  for (std::size_t f = 0; f < demands.size(); ++f) {
    if (demands[f].rate_max != 0) capped.push_back(f);
    for (const Use<Number>& use : demands[f].uses) {
      load[use.link] += use.wire_per_payload * demands[f].weight;
      users[use.link].push_back(f);
      ++open[use.link];
    }
  }
  for (std::size_t to_freeze = demands.size(); to_freeze > 0;) {
    bool found = false;
    bool at_link = false;
    std::size_t least = 0;
    Number level(0);
    for (std::size_t l = 0; l < capacity.size(); ++l) {
      if (open[l] == 0) continue;
      const Number share = left[l] / load[l];
      if (!found || share < level) level = share, least = l, found = at_link = true;
    }
    for (const std::size_t f : capped) {
      if (frozen[f]) continue;
      const Number cap = demands[f].rate_max / demands[f].weight;
      if (!found || cap < level) level = cap, least = f, found = true, at_link = false;
    }
    const std::vector<std::size_t> only{least};
    for (const std::size_t f : at_link ? users[least] : only) {
      if (frozen[f]) continue;
      frozen[f] = true;
      --to_freeze;
      rate[f] = level * demands[f].weight;
      for (const Use<Number>& use : demands[f].uses) {
        left[use.link] -= rate[f] * use.wire_per_payload;
        load[use.link] -= use.wire_per_payload * demands[f].weight;
        --open[use.link];
      }
    }
  }
  return rate;
}

}  // namespace tiersim::flow_reference
