#pragma once
// A system as YAML describes it: one GPU, its memory tiers, the links between them, and the path of
// each remote tier as a list of link names from the GPU outward. Every device is `model: <kind>`
// with the fields of that kind.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/config/fields.hpp"
#include "sim/model/device_spec.hpp"

namespace tiersim {

/// One device: its kind and that kind's own fields.
template <class Interface>
struct DeviceConfig {
  std::string kind;
  std::unique_ptr<DeviceSpec<Interface>> spec;
};
void describe(Fields& f, DeviceConfig<MemoryTier>& c);
void describe(Fields& f, DeviceConfig<Link>& c);
void describe(Fields& f, DeviceConfig<RequestEngine>& c);
void describe(Fields& f, DeviceConfig<ComputeUnit>& c);

struct TierConfig {
  DeviceConfig<MemoryTier> memory;
  std::vector<std::string> path;  ///< links from the GPU outward; empty for the GPU's own memory
};
void describe(Fields& f, TierConfig& c);

struct SystemConfig {
  std::string name;
  DeviceConfig<ComputeUnit> gpu;
  DeviceConfig<RequestEngine> sm;
  DeviceConfig<RequestEngine> copy_engine;
  std::map<std::string, DeviceConfig<Link>> links;
  std::map<std::string, TierConfig> tiers;
};
void describe(Fields& f, SystemConfig& c);

}  // namespace tiersim
