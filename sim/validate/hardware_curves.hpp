#pragma once
// Reference curves of hardware beside the devices that should match them (`schema:
// tiersim.hardware_curves/v1`, reports/targets/hardware). A curve has a memory, the links to it, a
// requester or a collective, as its question requires. A device that was fitted to a curve says so;
// all others are independent of it.
#include <optional>
#include <vector>

#include "sim/record/probe_record.hpp"
#include "sim/step/system_config.hpp"

namespace tiersim {

struct HardwareCurve {
  CurveFacts facts;
  std::optional<DeviceConfig<MemoryTier>> memory;
  std::vector<DeviceConfig<Link>>
      links;  ///< from the requester outward, or the port of a rank first
  std::optional<DeviceConfig<Requester>> requester;
  std::optional<DeviceConfig<Requester>> against;  ///< of a time_ratio: the other requester
  std::optional<DeviceConfig<Collective>> collective;
  std::optional<TopologyConfig> topology;  ///< of a routed collective
  ProbeWorkload at;                        ///< defaults of all points
  std::vector<ReferencePoint> points;
};

void describe(Fields& f, ProbeWorkload& c);
void describe(Fields& f, ReferencePoint& c);
void describe(Fields& f, HardwareCurve& c);

struct HardwareCurves {
  std::vector<HardwareCurve> curves;
};
void describe(Fields& f, HardwareCurves& c);

}  // namespace tiersim
