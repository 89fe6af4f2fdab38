#include "hwmodels/topology/symmetry.hpp"

#include <unordered_map>

namespace tiersim {
namespace {

// 128 bits that tell the members of a list apart whatever their order is.
struct Signature {
  std::uint64_t a = 0;
  std::uint64_t b = 0;

  friend bool operator==(const Signature&, const Signature&) = default;
};
struct HashOfSignature {
  std::size_t operator()(const Signature& s) const { return s.a ^ s.b * 0x9e3779b97f4a7c15U; }
};

std::uint64_t mixed(std::uint64_t x, std::uint64_t salt) {
  x = (x + salt) * 0xff51afd7ed558ccdU;
  x = (x ^ x >> 33U) * 0xc4ceb9fe1a85ec53U;
  return x ^ x >> 29U;
}

void add(Signature& s, std::int32_t colour) {
  const auto x = static_cast<std::uint64_t>(colour) + 1;
  s.a += mixed(x, 0x6a09e667f3bcc909U);
  s.b += mixed(x, 0xbb67ae8584caa73bU);
}

using Colours = std::vector<std::int32_t>;

// Numbers the pairs of a colour and a signature in the order in which they first occur; returns how
// many there are.
std::size_t refine(Colours& colours, const std::vector<Signature>& signatures) {
  std::unordered_map<Signature, std::int32_t, HashOfSignature> numbers;
  for (std::size_t i = 0; i < colours.size(); ++i) {
    if (colours[i] < 0) continue;
    Signature s = signatures[i];
    s.a = mixed(s.a, static_cast<std::uint64_t>(colours[i]) + 1);
    s.b = mixed(s.b, ~static_cast<std::uint64_t>(colours[i]));
    const auto [it, is_new] = numbers.try_emplace(s, static_cast<std::int32_t>(numbers.size()));
    colours[i] = it->second;
  }
  return numbers.size();
}

Colours first_of(const Colours& colours, std::size_t count) {
  Colours first(count, -1);
  for (std::size_t i = 0; i < colours.size(); ++i)
    if (colours[i] >= 0 && first[static_cast<std::size_t>(colours[i])] < 0)
      first[static_cast<std::size_t>(colours[i])] = static_cast<std::int32_t>(i);
  return first;
}

Signature of_number(std::int64_t number) {
  return {static_cast<std::uint64_t>(number), mixed(static_cast<std::uint64_t>(number), 7)};
}

}  // namespace

FlowClasses classes_of(const Topology& topology, std::span<const RoutedFlow> flows) {
  const std::vector<TopologyLink>& all_links = topology.links();
  Colours links(all_links.size(), -1);
  for (const RoutedFlow& flow : flows)
    for (const std::int32_t link : flow.links) links[static_cast<std::size_t>(link)] = 0;
  std::vector<Signature> of_links(links.size());
  for (std::size_t i = 0; i < links.size(); ++i)
    of_links[i] = of_number(all_links[i].capacity.in_base());
  std::size_t link_count = refine(links, of_links);
  Colours colours(flows.size(), 0);
  std::vector<Signature> of_flows(flows.size());
  for (std::size_t i = 0; i < flows.size(); ++i) of_flows[i] = of_number(flows[i].bytes.in_base());
  std::size_t flow_count = refine(colours, of_flows);
  while (true) {
    const std::size_t before = link_count + flow_count;
    for (std::size_t i = 0; i < flows.size(); ++i) {
      of_flows[i] = {};
      for (const std::int32_t link : flows[i].links)
        add(of_flows[i], links[static_cast<std::size_t>(link)]);
    }
    flow_count = refine(colours, of_flows);
    std::fill(of_links.begin(), of_links.end(), Signature{});
    for (std::size_t i = 0; i < flows.size(); ++i)
      for (const std::int32_t link : flows[i].links)
        add(of_links[static_cast<std::size_t>(link)], colours[i]);
    link_count = refine(links, of_links);
    if (link_count + flow_count == before) break;
  }
  FlowClasses classes;
  classes.of_flow = std::move(colours);
  classes.of_link = std::move(links);
  classes.first = first_of(classes.of_flow, flow_count);
  classes.first_link = first_of(classes.of_link, link_count);
  return classes;
}

}  // namespace tiersim
