#pragma once
// The hardware of a fidelity map (`schema: tiersim.fidelity_map/v1`, reports/targets/levels), and
// the reasons why levels differ on it. Each device has a `packet_level` mapping, which the packet
// level uses. A file may leave out devices that it does not compare.
#include <optional>
#include <string>
#include <vector>

#include "sim/step/system_config.hpp"

namespace tiersim {

/// The reason why flow and packet differ in one workload, or in all of a group.
struct LevelReason {
  std::string workload;  ///< its id, or the common beginning of several: "pcie.read-"
  std::string why;
};

struct FidelityMapConfig {
  std::string title;
  std::optional<DeviceConfig<MemoryTier>> hbm;
  std::optional<DeviceConfig<Link>> pcie;          ///< with packet_level.switch, for many to one
  std::optional<DeviceConfig<Link>> cxl;           ///< with packet_level.switch, for pools
  std::optional<DeviceConfig<MemoryTier>> module;  ///< behind the CXL link
  std::optional<DeviceConfig<Link>> nvlink;
  std::optional<DeviceConfig<Link>> nvswitch;
  std::optional<DeviceConfig<Collective>> direct;
  std::optional<DeviceConfig<Collective>> nccl;
  std::optional<DeviceConfig<Link>> network;  ///< adapters of one leaf switch
  std::optional<DeviceConfig<Collective>> network_nccl;
  std::vector<LevelReason> reasons;
};

void describe(Fields& f, LevelReason& c);
void describe(Fields& f, FidelityMapConfig& c);

}  // namespace tiersim
