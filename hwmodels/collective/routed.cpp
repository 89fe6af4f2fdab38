#include "hwmodels/collective/routed.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <optional>
#include <tuple>

#include "hwmodels/limits.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace {

constexpr std::int64_t kUnit = std::int64_t{1} << 30U;  // bytes for which a pattern is simulated
constexpr std::size_t kMostGroups = 4096;
constexpr std::size_t kMostPatterns = 65536;

// A pattern of flows, for kUnit bytes.
struct Pattern {
  Duration flowing{};    // of all steps
  Duration receiving{};  // likewise, of the links that lead to one rank alone
  std::int64_t near_hops = 0;
  std::int64_t far_hops = 0;
  std::int64_t peers = 0;
  Bytes near_out, near_in, far_out, far_in;  // most of any rank
  Bytes run;
  bool is_bound = false;
};

Duration of_size(Duration unit, Bytes size, double busy) {
  const double share = static_cast<double>(size.in_base()) / static_cast<double>(kUnit) / busy;
  return Duration(static_cast<std::int64_t>(std::ceil(static_cast<double>(unit.count()) * share)));
}

Bytes of_size(Bytes unit, Bytes size) {
  return scale_up(unit, static_cast<double>(size.in_base()) / static_cast<double>(kUnit));
}

// Adds up what crosses each link. Where all ranks are alike, one link of each kind has its load.
class LinkBytes {
 public:
  LinkBytes(const Topology& topology, std::int64_t steps)
      : t_(topology), steps_(steps), loads_(topology.links().size()) {}
  void add(const CollectivePhase& phase, const std::vector<FlowGroup>& groups) {
    if (phase.of_first) {
      for (const FlowGroup& group : groups)
        for (const auto& [link, flows] : group.crossings) add(link, group.bytes * flows);
    } else {
      for (const RoutedFlow& flow : phase.flows)
        for (const std::int32_t link : flow.links) add(link, flow.bytes);
    }
  }
  // Adds the most of any rank, by direction.
  void add_to(Pattern& pattern) const {
    const auto gpus = static_cast<std::size_t>(t_.gpus());
    std::vector<Bytes> near_out(gpus), near_in(gpus), far_out(gpus), far_in(gpus);
    for (std::size_t i = 0; i < loads_.size(); ++i) {
      const TopologyLink& link = t_.links()[i];
      const bool leaves = kind(link.from) == VertexKind::gpu;
      const bool enters = kind(link.to) == VertexKind::gpu;
      // Traffic over PCIe or a torus goes to other NVLink domains.
      const bool near = (leaves && enters) || kind(link.from) == VertexKind::nvswitch ||
                        kind(link.to) == VertexKind::nvswitch;
      const auto sum = [&](std::vector<Bytes>& of, std::int32_t gpu) {
        Bytes& all = of[static_cast<std::size_t>(gpu)];
        all = all + loads_[i];
      };
      if (leaves) sum(near ? near_out : far_out, link.from);
      if (enters) sum(near ? near_in : far_in, link.to);
    }
    pattern.near_out = pattern.near_out + std::ranges::max(near_out);
    pattern.near_in = pattern.near_in + std::ranges::max(near_in);
    pattern.far_out = pattern.far_out + std::ranges::max(far_out);
    pattern.far_in = pattern.far_in + std::ranges::max(far_in);
    pattern.receiving += receiving();
  }

 private:
  void add(std::int32_t link, Bytes bytes) {
    Bytes& load = loads_[static_cast<std::size_t>(link)];
    load = load + bytes * steps_;
  }
  VertexKind kind(std::int32_t vertex) const {
    return t_.vertices()[static_cast<std::size_t>(vertex)].kind;
  }
  // The longest time of a link that leads to one GPU alone, or to those of its adapter.
  Duration receiving() const {
    Duration longest{};
    for (std::size_t i = 0; i < loads_.size(); ++i) {
      const TopologyLink& link = t_.links()[i];
      const bool own = kind(link.to) == VertexKind::gpu || kind(link.to) == VertexKind::adapter ||
                       kind(link.from) == VertexKind::adapter;
      const bool inwards = own && kind(link.from) != VertexKind::pcie_switch &&
                           kind(link.to) != VertexKind::leaf && kind(link.to) != VertexKind::router;
      const bool last =
          kind(link.from) == VertexKind::pcie_switch && kind(link.to) == VertexKind::gpu;
      if (inwards || last) longest = std::max(longest, loads_[i] / link.capacity);
    }
    return longest;
  }

  const Topology& t_;
  std::int64_t steps_;
  std::vector<Bytes> loads_;
};

Pattern pattern_of(const RoutedVariant& variant, const Topology& topology,
                   const CollectiveWork& unit) {
  Pattern pattern;
  for (const CollectivePhase& phase :
       phases_of(variant.algorithm, topology, unit, variant.most_nodes)) {
    const std::vector<FlowGroup> groups = groups_of(topology, phase, unit.ranks);
    const bool simulated = groups.size() <= kMostGroups;
    const TransferTimes times = simulated ? simulate(topology, groups) : bound_of(topology, groups);
    pattern.is_bound = pattern.is_bound || !simulated;
    pattern.flowing += repeated(times.all, phase.steps);
    pattern.near_hops += phase.near_hops;
    pattern.far_hops += phase.far_hops;
    pattern.peers += phase.peers;
    LinkBytes bytes(topology, phase.steps);
    bytes.add(phase, groups);
    bytes.add_to(pattern);
    for (const FlowGroup& group : groups) pattern.run = std::max(pattern.run, group.bytes);
  }
  return pattern;
}

// Patterns by all that they depend on, since the same topology is built again for every point and
// every draw of uncertain numbers.
class Patterns {
 public:
  Pattern of(const RoutedVariant& variant, const Topology& topology, const CollectiveWork& work) {
    const Key key{topology.fingerprint(),
                  variant.algorithm,
                  variant.most_nodes,
                  work.kind,
                  work.ranks,
                  work.copies};
    {
      const std::scoped_lock lock(mutex_);
      if (const auto it = known_.find(key); it != known_.end()) return it->second;
    }
    CollectiveWork unit = work;
    unit.size = Bytes::from_base(kUnit);
    const Pattern pattern = pattern_of(variant, topology, unit);
    const std::scoped_lock lock(mutex_);
    if (known_.size() >= kMostPatterns) known_.clear();
    return known_.try_emplace(key, pattern).first->second;
  }

 private:
  using Key = std::tuple<std::array<std::uint64_t, 2>, RoutedAlgorithm, std::int64_t,
                         CollectiveKind, std::int64_t, std::int64_t>;
  std::mutex mutex_;
  std::map<Key, Pattern> known_;
};

Patterns& all_patterns() {
  static Patterns patterns;
  return patterns;
}

class Routed final : public Collective {
 public:
  explicit Routed(const RoutedConfig& c) : use_(c.use) {
    for (const auto& [name, variant] : c.variants)
      variants_.push_back({name, name + ", bound", variant});
  }

  CollectiveCost cost(const CollectiveWork& work, const PortPath& port) const override {
    if (work.ranks == 1 || work.size == Bytes{}) return {};
    TS_EXPECTS(port.topology != nullptr);
    std::optional<CollectiveCost> best;
    const auto time = [](const CollectiveCost& c) { return c.latency + c.min_duration; };
    const auto consider = [&](const Named& named) {
      if (!serves(named, work, *port.topology)) return;
      const CollectiveCost one = cost_of(named, work, *port.topology);
      if (!best || time(one) < time(*best)) best = one;
    };
    for (const Named& named : variants_)
      if (named.name == use_) consider(named);
    if (!best) std::ranges::for_each(variants_, consider);
    TS_EXPECTS(best.has_value(), name(work.kind), work.ranks);
    return *best;
  }

 private:
  struct Named {
    std::string name;
    std::string name_of_bound;
    RoutedVariant variant;
  };

  static bool serves(const Named& named, const CollectiveWork& work, const Topology& topology) {
    return tiersim::serves(named.variant.algorithm, topology, work) ||
           work.kind == CollectiveKind::send;
  }

  static CollectiveCost cost_of(const Named& named, const CollectiveWork& work,
                                const Topology& topology) {
    const RoutedVariant& v = named.variant;
    const Pattern p = all_patterns().of(v, topology, work);
    const bool has_domains = topology.domain() > 1;
    const Duration of_hottest(
        static_cast<std::int64_t>(std::ceil(static_cast<double>(p.receiving.count()) * work.hot)));
    return {.latency = v.start.value + repeated(v.near.value, p.near_hops) +
                       repeated(v.far.value, p.far_hops) + repeated(v.peer.value, p.peers),
            .out = of_size(has_domains ? p.near_out : p.far_out, work.size),
            .in = of_size(has_domains ? p.near_in : p.far_in, work.size),
            .run = std::max(of_size(p.run, work.size), Bytes::from_base(1)),
            .min_duration = of_size(std::max(p.flowing, of_hottest), work.size, v.busy.value),
            .far_out = has_domains ? of_size(p.far_out, work.size) : Bytes{},
            .far_in = has_domains ? of_size(p.far_in, work.size) : Bytes{},
            .algorithm = p.is_bound ? named.name_of_bound : named.name};
  }

  std::string use_;
  std::vector<Named> variants_;
};

}  // namespace

void describe(Fields& f, RoutedVariant& c) {
  f.doc("An algorithm with what its kernels cost beside the bytes.");
  f.required("algorithm", c.algorithm, kRoutedAlgorithmNames, "Which ranks send what to whom.");
  f.required("start", c.start, "Once for each operation.", latency_limits());
  f.optional("near", c.near, "Of each step that waits for the one before it, inside a domain.",
             latency_limits());
  f.optional("far", c.far, "Likewise, between domains.", latency_limits());
  f.optional("peer", c.peer, "Of each message that a rank sends to another.", latency_limits());
  f.optional("busy", c.busy,
             "Share of the links' rates that the payload reaches, flags of a protocol included.",
             share_limits());
  f.optional("most_nodes", c.most_nodes,
             "moe_normal: nodes that a token is sent to at most (group-limited routing); 0: any.",
             in_range(0, 16384));
  f.check(c.most_nodes == 0 || c.algorithm == RoutedAlgorithm::moe_normal, "most_nodes",
          "is for algorithm moe_normal", "leave it out");
}

void describe(Fields& f, RoutedConfig& c) {
  f.doc("Collectives over the links and paths of the system's topology.");
  f.required("variants", c.variants, "Algorithms with their constants, by a name.");
  f.optional("use", c.use,
             "Name of a variant, or auto for the fastest. What it does not serve is left to the "
             "others.");
  std::vector<std::string> names{"auto"};
  for (const auto& [name, variant] : c.variants) names.push_back(name);
  f.check(std::ranges::find(names, c.use) != names.end(), "use", "is no variant: '" + c.use + "'",
          "there are: " + join(names));
  f.check(!c.variants.contains("auto"), "variants.auto", "has a name that means the fastest",
          "another name");
  // Every operation of a step is served by one of these.
  const auto has = [&](RoutedAlgorithm a) {
    return std::ranges::any_of(c.variants,
                               [&](const auto& entry) { return entry.second.algorithm == a; });
  };
  f.check(has(RoutedAlgorithm::ring) && has(RoutedAlgorithm::direct), "variants",
          "have no ring, or no direct exchange", "a step may need either");
}

std::unique_ptr<Collective> make_device(const RoutedConfig& config) {
  return std::make_unique<Routed>(config);
}

void register_routed(Registry<DeviceKind<Collective>>& registry) {
  registry.add(std::string(kRoutedKind),
               {"algorithms over the links and paths of the system's topology (flow)",
                &ConfiguredDevice<Collective, RoutedConfig>::make});
}

}  // namespace tiersim
