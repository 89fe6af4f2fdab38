#include "hwmodels/packet/collective/collective_probe.hpp"
#include "sim/core/engine.hpp"

#include <algorithm>

namespace tiersim {
namespace {

std::optional<NcclAlgorithm> nccl_name(PacketAlgorithm algorithm, CollectiveProtocol protocol) {
  const auto shifted = [&](NcclAlgorithm first) {
    return static_cast<NcclAlgorithm>(static_cast<int>(first) + static_cast<int>(protocol));
  };
  switch (algorithm) {
    case PacketAlgorithm::ring:
    case PacketAlgorithm::hierarchical:
      return shifted(NcclAlgorithm::ring_ll);
    case PacketAlgorithm::tree:
      return shifted(NcclAlgorithm::tree_ll);
    case PacketAlgorithm::nvls:
      return NcclAlgorithm::nvls;
    default:
      return std::nullopt;
  }
}

const NcclConstants* constants_of(const CollectiveProbeConfig& config,
                                  const CollectiveQuestion& q) {
  const auto name = nccl_name(q.algorithm, q.protocol);
  if (!name || !config.nccl) return nullptr;
  const auto& found = config.nccl->of[static_cast<std::size_t>(*name)];
  return found ? &*found : nullptr;
}

Bandwidth port_of(const NvlinkNode& node) {
  return scale_down(node.port.raw.value, node.port.efficiency.value);
}

double bus_factor(CollectiveKind kind, std::int64_t ranks) {
  const auto n = static_cast<double>(ranks);
  if (kind == CollectiveKind::send) return 1;
  return (kind == CollectiveKind::all_reduce ? 2 : 1) * (n - 1) / n;
}

}  // namespace

std::optional<NamedAlgorithm> algorithm_named(std::string_view name, CollectiveKind kind) {
  using enum PacketAlgorithm;
  for (const PacketAlgorithm a : {one_shot, two_shot, nvls})
    if (name == tiersim::name(a)) return NamedAlgorithm{a, CollectiveProtocol::simple};
  if (name == "direct") {
    const bool exchange = kind != CollectiveKind::all_reduce;
    return NamedAlgorithm{exchange ? two_shot : one_shot, CollectiveProtocol::simple};
  }
  for (const PacketAlgorithm a : {ring, tree})
    for (std::size_t p = 0; p < kCollectiveProtocolNames.size(); ++p)
      if (name == std::string(tiersim::name(a)) + "_" + std::string(kCollectiveProtocolNames[p]))
        return NamedAlgorithm{a, static_cast<CollectiveProtocol>(p)};
  return std::nullopt;
}

NamedAlgorithm chosen_algorithm(const Collective& flow, const CollectiveProbeConfig& config,
                                const CollectiveQuestion& question) {
  const CollectiveWork work{question.kind, Fabric::tensor, question.bytes, question.ranks};
  const PortPath port{port_of(config.node), shape_of(config.node, question.ranks).one_way()};
  const auto chosen = algorithm_named(flow.cost(work, port).algorithm, question.kind);
  TS_EXPECTS(chosen.has_value(), flow.cost(work, port).algorithm);
  return *chosen;
}

bool has_constants(const CollectiveProbeConfig& config, const CollectiveQuestion& question) {
  const bool direct = question.algorithm == PacketAlgorithm::one_shot ||
                      question.algorithm == PacketAlgorithm::two_shot;
  if (direct) return config.direct.has_value();
  if (question.algorithm == PacketAlgorithm::hierarchical && !config.network) return false;
  return constants_of(config, question) != nullptr;
}

CollectiveSchedule schedule_of(const CollectiveProbeConfig& config,
                               const CollectiveQuestion& question) {
  return make_schedule(question.algorithm, question.kind, static_cast<std::size_t>(question.ranks),
                       question.bytes, config.packet.of(question.protocol),
                       static_cast<std::size_t>(question.nodes));
}

CollectiveTiming timing_of(const CollectiveProbeConfig& config, const CollectiveQuestion& question,
                           const CollectiveSchedule& schedule) {
  TS_EXPECTS(has_constants(config, question), name(question.algorithm));
  const FabricShape shape =
      shape_of(config.node, std::max<std::int64_t>(2, question.ranks / question.nodes));
  if (const NcclConstants* constants = constants_of(config, question)) {
    if (question.algorithm != PacketAlgorithm::hierarchical)
      return timing_of(*constants, schedule, shape, port_of(config.node));
    return timing_of(*constants, config.network->constants, schedule, shape,
                     config.network->adapters, port_of(config.node));
  }
  return timing_of(*config.direct, schedule, shape);
}

CollectiveProbeResult run_collective_probe(const CollectiveProbeConfig& config,
                                           const CollectiveQuestion& question) {
  const CollectiveSchedule schedule = schedule_of(config, question);
  Engine engine;
  const FabricShape shape =
      shape_of(config.node, std::max<std::int64_t>(2, question.ranks / question.nodes));
  std::vector<std::unique_ptr<PacketFabric>> nodes;
  CollectiveFabrics fabrics;
  for (std::int64_t node = 0; node < question.nodes; ++node) {
    nodes.push_back(std::make_unique<PacketFabric>(engine, shape));
    fabrics.nodes.push_back(nodes.back().get());
  }
  std::unique_ptr<PacketFabric> network;
  if (question.nodes > 1) {
    network = std::make_unique<PacketFabric>(engine, config.network->adapters);
    fabrics.network = network.get();
  }
  CollectiveRun run(engine, fabrics, schedule, timing_of(config, question, schedule));
  run.start();
  engine.run();

  CollectiveProbeResult out;
  out.time = run.time();
  out.bus_bandwidth = bus_factor(question.kind, question.ranks) *
                      static_cast<double>(question.bytes.in_base()) / to_seconds(out.time);
  for (const auto& node : nodes) {
    for (std::size_t i = 0; i < schedule.ranks_per_node; ++i) out.ports.push_back(node->port(i));
    out.packets += node->counters().entered;
  }
  out.algorithm = question.algorithm;
  out.protocol = question.protocol;
  out.events = engine.events();
  return out;
}

CollectiveProbeResult run_collective_probe(const CollectiveProbeConfig& config,
                                           const Collective& flow, CollectiveQuestion question) {
  const NamedAlgorithm chosen = chosen_algorithm(flow, config, question);
  question.algorithm = chosen.algorithm;
  question.protocol = chosen.protocol;
  return run_collective_probe(config, question);
}

}  // namespace tiersim
