#include "hwmodels/collective/routed.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <tuple>

#include "hwmodels/limits.hpp"
#include "hwmodels/topology/symmetry.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace {

constexpr std::int64_t kUnit = std::int64_t{1} << 30U;  // bytes for which a pattern is simulated
constexpr std::size_t kMostClasses = 4096;
constexpr double kHotSteps = 16;  // the hottest rank's share is rounded up to a sixteenth

// A pattern of flows, for kUnit bytes.
struct Pattern {
  Duration flowing{};  // of all steps
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

// Adds what crosses the links between a GPU and its switch, and between an adapter and the network.
class RankBytes {
 public:
  explicit RankBytes(const Topology& topology) : t_(topology), loads_(topology.links().size()) {}
  void add(const RoutedFlow& flow, std::int64_t steps) {
    for (const std::int32_t link : flow.links) {
      Bytes& load = loads_[static_cast<std::size_t>(link)];
      load = load + flow.bytes * steps;
    }
  }
  void write_to(Pattern& pattern) const {
    const auto gpus = static_cast<std::size_t>(t_.gpus());
    std::vector<Bytes> near_out(gpus), near_in(gpus), far_out(gpus), far_in(gpus);
    for (std::size_t i = 0; i < loads_.size(); ++i) {
      const TopologyLink& link = t_.links()[i];
      const bool leaves = kind(link.from) == VertexKind::gpu;
      const bool enters = kind(link.to) == VertexKind::gpu;
      // What a GPU sends or receives over PCIe or a torus leaves its domain, or there is none.
      const bool near = (leaves && enters) || kind(link.from) == VertexKind::nvswitch ||
                        kind(link.to) == VertexKind::nvswitch;
      if (leaves) add_to((near ? near_out : far_out)[static_cast<std::size_t>(link.from)], i);
      if (enters) add_to((near ? near_in : far_in)[static_cast<std::size_t>(link.to)], i);
    }
    pattern.near_out = std::ranges::max(near_out);
    pattern.near_in = std::ranges::max(near_in);
    pattern.far_out = std::ranges::max(far_out);
    pattern.far_in = std::ranges::max(far_in);
  }

 private:
  void add_to(Bytes& sum, std::size_t link) const { sum = sum + loads_[link]; }
  VertexKind kind(std::int32_t vertex) const {
    return t_.vertices()[static_cast<std::size_t>(vertex)].kind;
  }
  const Topology& t_;
  std::vector<Bytes> loads_;
};

Pattern pattern_of(const RoutedVariant& variant, const Topology& topology,
                   const CollectiveWork& unit) {
  Pattern pattern;
  RankBytes bytes(topology);
  for (const CollectivePhase& phase :
       phases_of(variant.algorithm, topology, unit, variant.most_nodes)) {
    const bool simulated = classes_of(topology, phase.flows).first.size() <= kMostClasses;
    const TransferTimes times =
        simulated ? simulate(topology, phase.flows) : bound_of(topology, phase.flows);
    pattern.is_bound = pattern.is_bound || !simulated;
    pattern.flowing += repeated(times.all, phase.steps);
    pattern.near_hops += phase.near_hops;
    pattern.far_hops += phase.far_hops;
    pattern.peers += phase.peers;
    for (const RoutedFlow& flow : phase.flows) {
      bytes.add(flow, phase.steps);
      pattern.run = std::max(pattern.run, flow.bytes);
    }
  }
  bytes.write_to(pattern);
  return pattern;
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
    const auto consider = [&](std::size_t i) {
      const CollectiveCost one = cost_of(i, work, *port.topology);
      if (!best || time(one) < time(*best)) best = one;
    };
    for (std::size_t i = 0; i < variants_.size(); ++i)
      if (use_ == variants_[i].name && serves(i, work, *port.topology)) consider(i);
    for (std::size_t i = 0; i < variants_.size() && !best; ++i)  // `use` does not serve it
      if (serves(i, work, *port.topology))
        for (std::size_t k = i; k < variants_.size(); ++k)
          if (serves(k, work, *port.topology)) consider(k);
    TS_EXPECTS(best.has_value(), name(work.kind), work.ranks);
    return *best;
  }

 private:
  struct Named {
    std::string name;
    std::string name_of_bound;
    RoutedVariant variant;
  };
  // What variants of one algorithm share.
  using Key = std::tuple<RoutedAlgorithm, std::int64_t, const Topology*, CollectiveKind,
                         std::int64_t, std::int64_t, std::int64_t>;

  bool serves(std::size_t variant, const CollectiveWork& work, const Topology& topology) const {
    return tiersim::serves(variants_[variant].variant.algorithm, topology, work) ||
           work.kind == CollectiveKind::send;
  }

  const Pattern& pattern(const RoutedVariant& variant, const CollectiveWork& work,
                         const Topology& topology) const {
    CollectiveWork unit = work;
    const auto hot = static_cast<std::int64_t>(std::ceil(work.hot * kHotSteps));
    unit.hot = static_cast<double>(hot) / kHotSteps;
    unit.size = Bytes::from_base(kUnit);
    const std::scoped_lock lock(mutex_);
    const auto [it, is_new] =
        patterns_.try_emplace({variant.algorithm, variant.most_nodes, &topology, work.kind,
                               work.ranks, work.copies, hot});
    if (is_new) it->second = pattern_of(variant, topology, unit);
    return it->second;
  }

  CollectiveCost cost_of(std::size_t index, const CollectiveWork& work,
                         const Topology& topology) const {
    const Named& named = variants_[index];
    const RoutedVariant& v = named.variant;
    const Pattern& p = pattern(v, work, topology);
    const bool has_domains = topology.domain() > 1;
    return {.latency = v.start.value + repeated(v.near.value, p.near_hops) +
                       repeated(v.far.value, p.far_hops) + repeated(v.peer.value, p.peers),
            .out = of_size(has_domains ? p.near_out : p.far_out, work.size),
            .in = of_size(has_domains ? p.near_in : p.far_in, work.size),
            .run = std::max(of_size(p.run, work.size), Bytes::from_base(1)),
            .min_duration = of_size(p.flowing, work.size, v.busy.value),
            .far_out = has_domains ? of_size(p.far_out, work.size) : Bytes{},
            .far_in = has_domains ? of_size(p.far_in, work.size) : Bytes{},
            .algorithm = p.is_bound ? named.name_of_bound : named.name};
  }

  std::string use_;
  std::vector<Named> variants_;
  mutable std::mutex mutex_;
  mutable std::map<Key, Pattern> patterns_;  // references stay valid
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
