#pragma once
// A system as YAML describes it: a GPU, its memory tiers, the links between them, and the path of
// each remote tier as a list of link names from the GPU outward; also the number of such GPUs and
// the devices that they share. Every device is `model: <kind>` with the fields of that kind.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hwmodels/topology/topology_config.hpp"
#include "sim/config/fields.hpp"
#include "sim/model/device_costs.hpp"
#include "sim/model/device_spec.hpp"
#include "sim/step/cpu_traffic.hpp"

namespace tiersim {

/// The treatment of concurrent accesses by a device.
enum class Level : std::uint8_t {
  flow,      ///< accesses share its channels, max-min fair
  analytic,  ///< each access takes as long as alone
  packet,    ///< accesses contend as packets, commands and credits
};
inline constexpr std::array<std::string_view, 3> kLevelNames{"flow", "analytic", "packet"};

/// One device: its kind, the kind's own fields, its level and its costs.
template <class Interface>
struct DeviceConfig {
  std::string kind;
  std::shared_ptr<DeviceSpec<Interface>> spec;  ///< copies share it; nothing is read into a copy
  Level level = Level::flow;  ///< a compute unit has none: its kernels run one at a time
  DeviceCosts costs = {};
  ComputePower power = {};  ///< of a compute unit
};
void describe(Fields& f, DeviceConfig<MemoryTier>& c);
void describe(Fields& f, DeviceConfig<Link>& c);
void describe(Fields& f, DeviceConfig<Requester>& c);
void describe(Fields& f, DeviceConfig<ComputeUnit>& c);
void describe(Fields& f, DeviceConfig<Collective>& c);

struct TierConfig {
  DeviceConfig<MemoryTier> memory;
  /// Number of equal memories in the tier; addresses are interleaved over them. A CXL link at the
  /// end of the path that does not state its ports has one port for each memory.
  std::optional<Sourced<std::int64_t>> units;
  std::vector<std::string> path;  ///< links from the GPU outward; empty for the GPU's own memory
  std::optional<CpuTraffic> cpu_traffic;

  std::int64_t unit_count() const { return units ? units->value : 1; }
  /// The memory of the tier, beside what CPUs do in it.
  std::unique_ptr<MemoryTier> build() const;
};
void describe(Fields& f, TierConfig& c);

/// The network between the GPUs of a group, and the collective operations over it.
struct FabricConfig {
  DeviceConfig<Collective> collective;
  std::vector<std::string> path;    ///< links that a GPU's traffic crosses, its port first
  std::vector<std::string> beyond;  ///< links that only its traffic to other domains crosses
  /// The CPU's time for each collective that is not captured in a graph: the least that one takes.
  std::optional<Sourced<Duration>> launch;
  /// Of `transfer`: the unit that issues the copies of a hand-over, a contiguous run each.
  std::optional<DeviceConfig<Requester>> requester;
};
void describe(Fields& f, FabricConfig& c);

/// The CPU's work between two steps: scheduling, sampling, launching.
struct HostConfig {
  Sourced<Duration> step;
};
void describe(Fields& f, HostConfig& c);

/// Equal GPUs, the same number on each host, each running a step of its own.
struct GpusConfig {
  std::int64_t count = 1;
  std::int64_t hosts = 1;
};
void describe(Fields& f, GpusConfig& c);

/// Links and tiers that several GPUs share; every GPU has its own instance of all others.
struct SharedConfig {
  std::vector<std::string> host;  ///< one on each host, for its GPUs
  std::vector<std::string> all;   ///< one for all GPUs
};
void describe(Fields& f, SharedConfig& c);

/// The numbers that convert a price and a power into a cost of time.
struct EconomicsConfig {
  Sourced<double> amortisation_years;
  Sourced<double> utilisation;
  Sourced<MoneyPerEnergy> electricity;
  std::optional<Sourced<Money>> gpu_price;  ///< instead of the price that the GPU states
  /// The rent of a GPU for an hour, which includes its share of all other devices and electricity.
  /// It replaces all prices.
  std::optional<Sourced<Money>> rent_per_hour;
};
void describe(Fields& f, EconomicsConfig& c);

struct SystemConfig {
  std::string name;
  GpusConfig gpus;
  SharedConfig shared;
  DeviceConfig<ComputeUnit> gpu;
  DeviceConfig<Requester> sm;
  DeviceConfig<Requester> copy_engine;
  std::optional<DeviceConfig<Requester>> cpu;  ///< that attends where keys and values lie
  std::map<std::string, DeviceConfig<Link>> links;
  std::map<std::string, TierConfig> tiers;
  std::map<std::string, FabricConfig> fabrics;  ///< by name of a Fabric
  std::optional<TopologyConfig> topology;       ///< how the GPUs of all hosts are joined
  std::optional<HostConfig> host;
  std::optional<EconomicsConfig> economics;

  /// The network for this purpose: its own, or that of `tensor` for pipelines, experts and context
  /// ranks; null if there is none.
  const FabricConfig* fabric(Fabric purpose) const;
  /// Units of the tier whose path ends with this link; 1 if no path does.
  std::int64_t units_behind(const std::string& link) const;
  /// GPUs that share one instance of the link or tier.
  std::int64_t sharers(const std::string& device) const;
};
void describe(Fields& f, SystemConfig& c);

}  // namespace tiersim
