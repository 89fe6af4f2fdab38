#pragma once
// Random systems at flow level, both as numbers that a test may change and as their YAML: GPUs on
// hosts, links of every kind, tiers behind some of them, shared devices, request engines, levels.
// Also a random graph of kernels and copies to run on them.
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/config/describe.hpp"
#include "sim/step/simulate.hpp"
#include "tests/support/choices.hpp"

namespace tiersim::testing {

enum class Sharing : std::uint8_t { own, host, all };
enum class LinkKind : std::uint8_t { pcie, cxl, nvlink, hop };

struct FlowLink {
  LinkKind kind = LinkKind::pcie;
  std::int64_t rate = 0;  ///< B/s; of a hop: 0 for none
  std::int64_t latency = 0;
  std::int64_t header = 0;
  Sharing sharing = Sharing::own;
  bool analytic = false;
};

struct FlowTier {
  std::int64_t rate = 0;
  std::int64_t latency = 0;
  std::int64_t row_time = 0;
  std::int64_t pseudo_channels = 1;
  Sharing sharing = Sharing::own;
  std::vector<std::size_t> path;  ///< links
};

struct FlowOp {
  bool kernel = false;
  bool by_sm = false;
  bool writes = false;
  std::size_t tier = 0;
  std::int64_t bytes = 1;
  std::int64_t run = 1;
  std::int64_t after = -1;  ///< an earlier operation; -1: none
};

struct FlowSystem {
  std::int64_t hosts = 1;
  std::int64_t gpus = 1;
  std::int64_t launch = 0;
  std::int64_t descriptor_time = 0;
  std::int64_t engine_rate = 0;
  std::int64_t in_flight = 0;
  std::int64_t flop_rate = 1'000'000'000'000;
  std::vector<FlowLink> links;
  std::vector<FlowTier> tiers;  ///< the first one is the GPU's own, without a path
  std::vector<FlowOp> ops;

  std::string yaml() const;
  std::string ops_text() const;
};

inline std::string number(std::int64_t value, std::string_view unit = "") {
  return fmt::format("{{value: {} {}, class: assumed, source: drawn}}", value, unit);
}

inline std::string yaml_of(const FlowLink& l) {
  const std::string latency = "latency: " + number(l.latency, "ps");
  const std::string rate = number(l.rate, "B/s");
  std::string out = l.analytic ? "level: analytic, " : "";
  switch (l.kind) {
    case LinkKind::pcie:
      return out + fmt::format(
                       "model: pcie, raw: {}, link_efficiency: {}, max_payload: {}, "
                       "max_read_request: {}, request_header: {}, completion_header: {}, {}",
                       rate, number(1), number(256, "B"), number(512, "B"), number(l.header, "B"),
                       number(l.header, "B"), latency);
    case LinkKind::cxl:
      return out + fmt::format("model: cxl, raw: {}, ports: {}, {}", rate, number(1), latency);
    case LinkKind::nvlink:
      return out + fmt::format(
                       "model: nvlink, raw: {}, efficiency: {}, sector: {}, packet: {}, "
                       "header: {}, {}",
                       rate, number(1), number(32, "B"), number(256, "B"), number(l.header, "B"),
                       latency);
    case LinkKind::hop:
      out += fmt::format("model: hop, crossings: {}, {}", number(1), latency);
      return l.rate == 0 ? out : out + ", capacity: " + rate;
  }
  return out;
}

inline std::string FlowSystem::yaml() const {
  std::string out = fmt::format(
      "name: drawn\ngpus: {{count: {}, hosts: {}}}\n"
      "gpu: {{model: roofline_gpu, peak_bf16: {}, peak_int8: {}, efficiency: {}, launch: {}}}\n"
      "sm: {{model: sm_loads, to_gpu: {}, from_gpu: {}, in_flight: {}}}\n"
      "copy_engine: {{model: copy_engine, to_gpu: {}, from_gpu: {}, descriptor_time: {}}}\n",
      gpus, hosts, number(flop_rate, "FLOP/s"), number(flop_rate, "FLOP/s"), number(1),
      number(launch, "ps"), number(engine_rate, "B/s"), number(engine_rate, "B/s"),
      number(in_flight, "B"), number(engine_rate, "B/s"), number(engine_rate, "B/s"),
      number(descriptor_time, "ps"));
  for (const Sharing sharing : {Sharing::host, Sharing::all}) {
    std::string names;
    const auto add = [&](const std::string& name) { names += (names.empty() ? "" : ", ") + name; };
    for (std::size_t i = 0; i < links.size(); ++i)
      if (links[i].sharing == sharing) add(fmt::format("link{}", i));
    for (std::size_t i = 1; i < tiers.size(); ++i)
      if (tiers[i].sharing == sharing) add(fmt::format("tier{}", i));
    out += fmt::format("{}{}: [{}]", sharing == Sharing::host ? "shared: {" : ", ",
                       sharing == Sharing::host ? "host" : "all", names);
  }
  out += links.empty() ? "}\n" : "}\nlinks:\n";
  for (std::size_t i = 0; i < links.size(); ++i)
    out += fmt::format("  link{}: {{{}}}\n", i, yaml_of(links[i]));
  out += "tiers:\n";
  for (std::size_t i = 0; i < tiers.size(); ++i) {
    const FlowTier& t = tiers[i];
    std::string path;
    for (const std::size_t link : t.path)
      path += fmt::format("{}link{}", path.empty() ? "" : ", ", link);
    out += fmt::format(
        "  tier{}: {{path: [{}], memory: {{model: dram, capacity: {}, peak: {}, "
        "pseudo_channels: {}, atom: {}, interleave: {}, read_efficiency: {}, "
        "write_efficiency: {}, row_time: {}, latency: {}}}}}\n",
        i, path, number(std::int64_t{1} << 50, "B"), number(t.rate, "B/s"),
        number(t.pseudo_channels), number(32, "B"), number(256, "B"), number(1), number(1),
        number(t.row_time, "ps"), number(t.latency, "ps"));
  }
  return out;
}

inline std::string FlowSystem::ops_text() const {
  std::string out = "# operations of each GPU:\n";
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const FlowOp& op = ops[i];
    out += fmt::format("# {}: {} {} {} B of tier{} in runs of {} B{}\n", i,
                       op.kernel  ? "a kernel"
                       : op.by_sm ? "a kernel's copy"
                                  : "a copy",
                       op.writes ? "writes" : "reads", op.bytes, op.tier, op.run,
                       op.after < 0 ? "" : fmt::format(", after {}", op.after));
  }
  return out;
}

/// Kernels read the tier; copies go to it from the GPU's own memory, or back.
inline StepGraph graph_of(const FlowSystem& drawn, const System& system) {
  StepGraph graph;
  graph.tier_names = system.tier_names();
  graph.tokens = 1;
  for (const FlowOp& op : drawn.ops) {
    const auto access = [&](std::size_t tier, Direction direction) {
      return Access{system.tier("tier" + std::to_string(tier)), direction, TensorClass::keys,
                    Bytes::from_base(op.bytes), Bytes::from_base(std::min(op.run, op.bytes))};
    };
    Op out;
    out.kind = op.kernel ? OpKind::compute : OpKind::transfer;
    out.requester = op.kernel || op.by_sm ? RequesterKind::sm : RequesterKind::copy_engine;
    out.accesses = {access(op.tier, op.writes ? Direction::write : Direction::read)};
    if (!op.kernel && op.tier != 0)
      out.accesses.push_back(access(0, op.writes ? Direction::read : Direction::write));
    if (op.kernel) out.flops = Flops::from_base(op.bytes);
    if (op.after >= 0) out.after = {OpId(static_cast<std::size_t>(op.after))};
    graph.add(std::move(out));
  }
  return graph;
}

/// Runs all three readings. A refused configuration is a mistake of the generator.
inline Simulation run(const FlowSystem& drawn, ChannelObserver* observer = nullptr) {
  Diagnostics diagnostics;
  const Document document = load_text(drawn.yaml(), "drawn.yaml", {}, diagnostics);
  const auto config = read<SystemConfig>(document, "system", diagnostics);
  TS_EXPECTS(diagnostics.ok(), diagnostics.text(), drawn.yaml());
  Simulation sim;
  sim.system = std::make_unique<System>(config);
  sim.graph = graph_of(drawn, *sim.system);
  sim.plans = sim.system->plan(sim.graph);
  sim.accounting = account(sim.graph, *sim.system, sim.plans);
  sim.bound = bound_of(sim.graph, *sim.system, sim.plans);
  sim.execution = execute(sim.graph, *sim.system, sim.plans, observer);
  return sim;
}

}  // namespace tiersim::testing
