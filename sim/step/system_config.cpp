#include "sim/step/system_config.hpp"

#include "hwmodels/compute/host_cpu.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "hwmodels/collective/routed.hpp"
#include "hwmodels/device_library.hpp"
#include "sim/base/display.hpp"
#include "sim/base/text.hpp"
#include "sim/step/packet_network.hpp"

namespace tiersim {
namespace {

template <class Interface>
void describe_device(Fields& f, DeviceConfig<Interface>& c,
                     const Registry<DeviceKind<Interface>>& library) {
  std::vector<Alternative> kinds;
  for (const auto& [kind, entry] : library.entries()) kinds.push_back({kind, entry.help});
  f.select("model", c.kind, kinds, [&](const std::string& kind, Fields& fields) {
    if (!c.spec || c.kind != kind) c.spec = library.find(kind)->make();
    c.kind = kind;
    c.spec->describe(fields);
    if constexpr (std::is_same_v<Interface, ComputeUnit>) describe_power(fields, c.power);
  });
  if constexpr (!std::is_same_v<Interface, ComputeUnit> && !std::is_same_v<Interface, Collective>)
    f.optional("level", c.level, kLevelNames,
               "Accesses at the same time share it, are each alone, or meet as packets.");
  if constexpr (!std::is_same_v<Interface, Collective>) describe_costs(f, c.costs);
}

std::vector<std::string> device_names(const SystemConfig& c) {
  std::vector<std::string> names;
  for (const auto& [name, link] : c.links) names.push_back(name);
  for (const auto& [name, tier] : c.tiers) names.push_back(name);
  return names;
}

bool contains(const std::vector<std::string>& list, const std::string& name) {
  return std::ranges::find(list, name) != list.end();
}

// True where the last link of a path has a part for each unit of the tiers behind it.
bool is_of_units(const SystemConfig& c, const std::vector<std::string>& path) {
  const auto link = path.empty() ? c.links.end() : c.links.find(path.back());
  return link != c.links.end() && link->second.spec && link->second.spec->has_units();
}

// Records, paths and sharing refer to devices by name, so names must be unique.
void check_names(Fields& f, const SystemConfig& c) {
  for (const auto& [name, link] : c.links) {
    const bool taken = c.tiers.contains(name) || std::ranges::count(kRequesterNames, name) != 0;
    f.check(!taken, "links." + name, "has the name of another device",
            "records tell devices by name");
  }
  for (const auto& [name, tier] : c.tiers) {
    f.check(std::ranges::count(kRequesterNames, name) == 0, "tiers." + name,
            "has the name of another device", "records tell devices by name");
    f.check(!is_of_units(c, tier.path) || c.units_behind(tier.path.back()) == tier.unit_count(),
            "tiers." + name + ".units", "differs from that of another tier behind the same link",
            "tiers behind one link have equal units");
    for (const std::string& link : tier.path)
      f.check(std::ranges::count(tier.path, link) == 1, "tiers." + name + ".path",
              "has link '" + link + "' twice", "a second crossing is a link of its own");
  }
  std::vector<std::string> links;
  for (const auto& [name, link] : c.links) links.push_back(name);
  for (const auto& [name, tier] : c.tiers)
    for (const std::string& link : tier.path)
      f.check(contains(links, link), "tiers." + name + ".path", "no link is named '" + link + "'",
              "the links are: " + join(links));
}

void check_fabrics(Fields& f, const SystemConfig& c) {
  std::vector<std::string> links;
  for (const auto& [name, link] : c.links) links.push_back(name);
  for (const auto& [name, fabric] : c.fabrics) {
    f.check(
        std::ranges::count(kFabricNames, name) == 1, "fabrics." + name, "is no purpose",
        "there are: " + join(std::vector<std::string>(kFabricNames.begin(), kFabricNames.end())));
    f.check(!fabric.path.empty(), "fabrics." + name + ".path", "is empty",
            "the links that a GPU's traffic crosses, its port first");
    const auto check_links = [&, at = "fabrics." + name](const std::vector<std::string>& path,
                                                         const char* key) {
      for (const std::string& link : path) {
        f.check(contains(links, link), at + key, "no link is named '" + link + "'",
                "the links are: " + join(links));
        f.check(std::ranges::count(path, link) == 1, at + key, "has link '" + link + "' twice",
                "a second crossing is a link of its own");
      }
    };
    check_links(fabric.path, ".path");
    check_links(fabric.beyond, ".beyond");
    for (const std::string& link : fabric.beyond)
      f.check(!contains(fabric.path, link), "fabrics." + name + ".beyond",
              "has link '" + link + "', as the path does", "a link is crossed by all or by some");
    const bool packets = std::ranges::any_of(fabric.path, [&](const std::string& link) {
      const auto it = c.links.find(link);
      return it != c.links.end() && it->second.level == Level::packet;
    });
    const auto check_level = [&, place = "fabrics." + name](const char* key) {
      f.check(!packets, place + key, "has no packet level, and a link of the path is at that level",
              "a path at flow level");
    };
    if (fabric.launch) check_level(".launch");
    if (!fabric.requester) continue;
    check_level(".requester");
    f.check(name == tiersim::name(Fabric::transfer), "fabrics." + name + ".requester",
            "issues copies, and this purpose has collectives", "of `transfer` alone");
  }
}

// A topology has the system's GPUs, and what is routed has a topology.
void check_topology(Fields& f, const SystemConfig& c) {
  if (c.topology) {
    f.check(c.topology->gpus() == c.gpus.count, "topology",
            fmt::format("has {} GPUs, and the system has {}", c.topology->gpus(), c.gpus.count),
            "gpus: {count: N, hosts: M} as the topology");
    f.check(c.topology->nodes == c.gpus.hosts, "topology.nodes",
            fmt::format("are {}, and the system has {} hosts", c.topology->nodes, c.gpus.hosts),
            "gpus: {count: N, hosts: M} as the topology");
    f.check(std::ranges::any_of(
                c.fabrics,
                [](const auto& fabric) { return fabric.second.collective.kind == kRoutedKind; }),
            "topology", "has no effect: no collective goes over it",
            "fabrics.tensor.collective: {base: devices/collective_routed_nccl.yaml}");
  }
  for (const auto& [name, fabric] : c.fabrics) {
    const bool routed = fabric.collective.kind == kRoutedKind;
    f.check(!routed || c.topology, "fabrics." + name + ".collective",
            "is routed, and the system states no topology",
            "topology: {base: topologies/dgx_h100_rails_16.yaml}");
    const std::int64_t domain = c.topology && c.topology->nvlink ? c.topology->nvlink->gpus : 1;
    f.check(!routed || !c.topology || domain == 1 || domain >= c.topology->gpus() ||
                !fabric.beyond.empty(),
            "fabrics." + name + ".beyond", "is missing, and the topology has several domains",
            "beyond: [network], the links that only traffic to other domains crosses");
    f.check(routed || fabric.beyond.empty(), "fabrics." + name + ".beyond",
            "is for a collective that tells the traffic of domains apart", "model: routed");
  }
}

// A limit holds for the GPU with its own memory, so that memory states what its bytes take.
void check_power(Fields& f, const SystemConfig& c) {
  const ComputePower& power = c.gpu.power;
  if (!power.power_limit || !f.is_whole()) return;
  const DeviceCosts& costs = c.gpu.costs;
  bool whole = true;
  for (const auto& [key, stated] : {std::pair{"energy_per_flop", costs.energy_per_flop.has_value()},
                                    std::pair{"idle_power", costs.idle_power.has_value()},
                                    std::pair{"active_power", power.active_power.has_value()},
                                    std::pair{"power_exponent", power.power_exponent.has_value()},
                                    std::pair{"least_clock", power.least_clock.has_value()}}) {
    f.check(stated, "gpu.power_limit", "is stated without gpu." + std::string(key),
            "the power under load follows from it");
    whole = whole && stated;
  }
  for (const auto& [name, tier] : c.tiers)
    f.check(!tier.path.empty() || tier.memory.costs.energy_per_byte, "gpu.power_limit",
            "is stated, and tier '" + name + "' states no energy_per_byte",
            "the power under load follows from it");
  if (power.board_power)
    f.check(*power.power_limit <= power.board_power->value, "gpu.power_limit",
            "exceeds the board_power of the GPU", "at most " + display(power.board_power->value));
  if (!whole) return;
  const Power least = static_power(costs.idle_power->value, power, power.least_clock->value);
  f.check(*power.power_limit > least, "gpu.power_limit",
          "is no more than the GPU takes at its lowest clock without any work",
          "above " + display(least));
}

void check_sharing(Fields& f, const SystemConfig& c) {
  const std::vector<std::string> names = device_names(c);
  for (const auto& [key, list] :
       {std::pair{"shared.host", &c.shared.host}, std::pair{"shared.all", &c.shared.all}})
    for (const std::string& name : *list) {
      f.check(contains(names, name), key, "no link or tier is named '" + name + "'",
              "there are: " + join(names));
      f.check(std::ranges::count(*list, name) == 1, key, "names '" + name + "' twice");
    }
  for (const auto& [name, tier] : c.tiers)
    f.check(!tier.path.empty() || c.sharers(name) == 1, "shared",
            "tier '" + name + "' has no path, so it is one GPU's own",
            "only links, and tiers behind links, are shared");
  for (const std::string& name : c.shared.host)
    f.check(!contains(c.shared.all, name), "shared.host",
            "names '" + name + "', as shared.all does", "a device is shared in one way");
  f.check(c.gpus.count % c.gpus.hosts == 0, "gpus.count", "is no multiple of gpus.hosts",
          "every host has the same number of GPUs");
}

}  // namespace

void describe(Fields& f, DeviceConfig<MemoryTier>& c) {
  describe_device(f, c, make_device_library().memory);
}
void describe(Fields& f, DeviceConfig<Link>& c) {
  describe_device(f, c, make_device_library().link);
}
void describe(Fields& f, DeviceConfig<Requester>& c) {
  describe_device(f, c, make_device_library().request);
}
void describe(Fields& f, DeviceConfig<ComputeUnit>& c) {
  describe_device(f, c, make_device_library().compute);
}

void describe(Fields& f, DeviceConfig<Collective>& c) {
  describe_device(f, c, make_device_library().collective);
}

void describe(Fields& f, FabricConfig& c) {
  f.doc("How the GPUs of a group reach each other.");
  f.document("collective", c.collective, "device", "How they work together.");
  f.required("path", c.path, "Links that a GPU's traffic crosses, its own port first.");
  f.optional("beyond", c.beyond,
             "Links that only its traffic to other NVLink domains crosses; `routed` alone tells "
             "it apart.");
  f.optional(
      "launch", c.launch,
      "Least time of each operation, where the CPU launches it by itself; none where a graph "
      "holds it.",
      in_range(Duration{}, Duration(kPicosecondsPerSecond)));
  f.optional_document("requester", c.requester, "device",
                      "Of `transfer` alone: what issues the copies of a cache that is handed over; "
                      "nothing limits them where absent.");
}

void describe(Fields& f, HostConfig& c) {
  f.doc("The CPU beside the GPUs.");
  f.required("step", c.step, "Its time between two steps, while the GPUs wait.",
             in_range(Duration{}, Duration(std::int64_t{1'000'000'000'000})));
}

void describe(Fields& f, TierConfig& c) {
  f.doc("A memory tier and the path to it.");
  f.document("memory", c.memory, "device", "The memory itself.");
  f.optional(
      "units", c.units,
      "Number of equal memories that addresses are interleaved over. Capacity, rates, price and "
      "idle power are those of one of them.",
      in_range(1, 1024));
  f.check(!c.units || !c.memory.spec || c.memory.spec->has_units(), "units",
          "is stated for a memory of which a tier can have only one");
  f.optional("path", c.path, "Links from the GPU outward; none for the GPU's own memory.");
  f.optional("cpu_traffic", c.cpu_traffic,
             "What the host's CPUs do in this memory; nothing where absent.");
  if (!c.cpu_traffic || !c.memory.spec || !f.is_whole()) return;
  f.check(!c.path.empty(), "cpu_traffic", "is in the GPU's own memory", "a tier with a path");
  f.check(c.memory.level != Level::packet, "cpu_traffic",
          "has no packet level, and the memory is at that level", "level: flow");
  constexpr double kLeast = 0.01;
  f.check(share_left(*c.memory.spec->build_units(c.unit_count()), *c.cpu_traffic) >= kLeast,
          "cpu_traffic.rate", "leaves less than 1 % of the memory's bandwidth", "a lower rate");
}

std::unique_ptr<MemoryTier> TierConfig::build() const {
  std::unique_ptr<MemoryTier> built = memory.spec->build_units(unit_count());
  return cpu_traffic ? beside(std::move(built), *cpu_traffic) : std::move(built);
}

void describe(Fields& f, GpusConfig& c) {
  f.doc("Equal GPUs, each running a step of its own at the same time.");
  f.optional("count", c.count, "GPUs on all hosts together.", in_range(1, 16384));
  f.optional("hosts", c.hosts, "Hosts with the same number of GPUs each.", in_range(1, 16384));
}

void describe(Fields& f, SharedConfig& c) {
  f.doc("Links and tiers that GPUs share; each GPU has the others to itself.");
  f.optional("host", c.host, "One on each host, shared by its GPUs.");
  f.optional("all", c.all, "One, shared by all GPUs.");
}

void describe(Fields& f, EconomicsConfig& c) {
  f.doc("Factors that turn prices and power into a cost of time.");
  f.required("amortisation_years", c.amortisation_years, "Years until the system is paid off.",
             in_range(0.01, 100.0));
  f.required("utilisation", c.utilisation, "Share of these years that it works.",
             in_range(0.001, 1.0));
  f.required("electricity", c.electricity, "Price of energy, cooling included.");
  const Limits prices = in_range(Money{}, Money::from_base(1'000'000'000'000'000));
  f.optional("gpu_price", c.gpu_price, "Of one GPU, instead of the price that its device states.",
             prices);
  f.optional("rent_per_hour", c.rent_per_hour,
             "Of one GPU with its share of everything and its electricity, instead of all prices. "
             "Hours without work are paid, too.",
             prices);
  f.check(!c.gpu_price || !c.rent_per_hour, "gpu_price", "stands beside rent_per_hour",
          "a rent is instead of all prices; remove one of them");
}

void describe(Fields& f, SystemConfig& c) {
  f.doc("One or more GPUs with their memory tiers and the links between them.");
  f.required("name", c.name, "Name of the system.");
  f.optional("gpus", c.gpus, "How many GPUs there are.");
  f.optional("shared", c.shared, "The resource that they share.");
  f.document("gpu", c.gpu, "device", "The GPU's compute.");
  f.document("sm", c.sm, "device", "How kernels reach remote tiers.");
  f.document("copy_engine", c.copy_engine, "device", "How DMA reaches remote tiers.");
  f.optional_document("cpu", c.cpu, "device",
                      "The CPUs of a host, where they attend to keys and values in its memory.");
  f.optional_document("links", c.links, "device", "Links by name.");
  f.required("tiers", c.tiers, "Memory tiers by name.");
  f.optional(
      "fabrics", c.fabrics,
      "Networks between GPUs by purpose: tensor, pipeline, experts, transfer, context, ffn.");
  f.optional_document("topology", c.topology, "topology",
                      "How the GPUs of all hosts are joined, for `routed` collectives.");
  f.optional("host", c.host, "The CPU's part of a step; none where it is left out.");
  f.optional_document("economics", c.economics, "economics",
                      "Factors that turn prices and power into a cost of time.");
  f.check(!c.tiers.empty(), "tiers", "has no tier", "at least the memory of the GPU");
  check_names(f, c);
  check_fabrics(f, c);
  check_topology(f, c);
  check_sharing(f, c);
  check_packets(f, c);
  check_power(f, c);
  for (const auto& [key, engine] :
       {std::pair{"sm", &c.sm}, std::pair{"copy_engine", &c.copy_engine}})
    f.check(engine->kind != kHostCpuKind, key, "is a CPU, which does no work of the GPU's",
            "model: sm_loads or copy_engine");
  f.check(!c.cpu || !c.cpu->spec || c.cpu->kind == kHostCpuKind, "cpu",
          "is a request engine of a GPU", "model: host_cpu");
}

const FabricConfig* SystemConfig::fabric(Fabric purpose) const {
  auto it = fabrics.find(std::string(tiersim::name(purpose)));
  const bool inherits =
      purpose != Fabric::tensor && purpose != Fabric::transfer && purpose != Fabric::ffn;
  if (it == fabrics.end() && inherits)
    it = fabrics.find(std::string(tiersim::name(Fabric::tensor)));
  return it == fabrics.end() ? nullptr : &it->second;
}

std::int64_t SystemConfig::units_behind(const std::string& link) const {
  for (const auto& entry : tiers) {
    const TierConfig& tier = entry.second;
    if (!tier.path.empty() && tier.path.back() == link) return tier.unit_count();
  }
  return 1;
}

std::int64_t SystemConfig::sharers(const std::string& device) const {
  if (contains(shared.all, device)) return gpus.count;
  if (contains(shared.host, device)) return gpus.count / gpus.hosts;
  return 1;
}

}  // namespace tiersim
