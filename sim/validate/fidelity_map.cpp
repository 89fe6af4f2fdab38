#include "sim/validate/fidelity_map.hpp"

#include <algorithm>

#include "hwmodels/compute/request_window.hpp"
#include "sim/validate/fidelity_map_devices.hpp"

namespace tiersim {
namespace {

// A memory that answers at once, because the links before it contain the whole round trip.
class NoMemory final : public MemoryTier {
 public:
  std::span<const Channel> channels() const override { return {}; }
  AccessCost cost(Direction, Bytes payload, Bytes) const override { return {.moved = payload}; }
  Bytes capacity() const override { return {}; }
};

template <class Config, class Interface>
const Config* of(const std::optional<DeviceConfig<Interface>>& device) {
  return device ? config_of<Config>(*device->spec) : nullptr;
}

void append(std::vector<LevelWorkload>& all, std::vector<LevelWorkload> some) {
  std::move(some.begin(), some.end(), std::back_inserter(all));
}

}  // namespace

namespace fidelity_map {

std::vector<LevelAccess> mixed_asks(const Device& device, Bytes payload, Bytes run) {
  const Bytes third = run * (payload.in_base() / run.in_base() / 3);
  LevelAccess read = ask_of(device, Direction::read, third * 2, run);
  LevelAccess write = ask_of(device, Direction::write, third, run);
  read.weight = 2;
  write.weight = 1;
  return {std::move(read), std::move(write)};
}

void limit(LevelAccess& access, Bytes run, const Window& window, Duration more,
           std::initializer_list<const Link*> links, const MemoryTier* memory) {
  const NoMemory none;
  const OutstandingRequests requests{.count = {.value = window.outstanding},
                                     .size = {.value = window.size}};
  const RoundTrip trip{.unloaded = latency_of(access) + more,
                       .memory = memory != nullptr ? memory : &none,
                       .links = {links.begin(), links.size()}};
  Bandwidth most = Bandwidth::from_base(std::int64_t{1} << 50);
  for (const LevelAccess::Part& part : access.parts)
    for (const Charge& charge : part.cost.charges) {
      const Duration alone = charge.busy / part.device->channels()[charge.channel].capacity;
      if (alone == Duration{}) continue;
      most = std::min(
          most, scale_down(Bandwidth::from_base(access.payload.in_base()), 1 / to_seconds(alone)));
    }
  access.least = RequestWindow(std::nullopt, requests).time(access.payload, run, trip, most);
}

void Workloads::add(Named named, LevelMeasure measure, std::vector<LevelAccess> accesses,
                    std::function<LevelAnswer()> packet) {
  list_.push_back({.facts = {.id = group_ + "." + named.id,
                             .group = group_,
                             .title = std::move(named.title),
                             .unit = unit_of(measure.kind),
                             .alike = named.alike},
                   .measure = measure,
                   .accesses = std::move(accesses),
                   .packet = std::move(packet),
                   .devices = devices_});
}

}  // namespace fidelity_map

std::vector<LevelWorkload> workloads_of(const FidelityMapConfig& config) {
  std::vector<LevelWorkload> all;
  if (config.hbm) append(all, fidelity_map::of_hbm(*of<DramConfig>(config.hbm)));
  if (config.pcie) append(all, fidelity_map::of_pcie(*of<PcieConfig>(config.pcie)));
  if (config.cxl)
    append(all, fidelity_map::of_cxl(*of<CxlConfig>(config.cxl), of<DramConfig>(config.module)));
  if (config.nvlink)
    append(all, fidelity_map::of_nvlink(
                    *of<NvlinkConfig>(config.nvlink), *of<HopConfig>(config.nvswitch),
                    of<DirectConfig>(config.direct), of<NcclConfig>(config.nccl)));
  if (config.network)
    append(all, fidelity_map::of_network(*of<NetworkConfig>(config.network),
                                         of<NcclConfig>(config.network_nccl)));
  return all;
}

std::string reason_of(const FidelityMapConfig& config, const std::string& id) {
  const LevelReason* best = nullptr;
  for (const LevelReason& reason : config.reasons)
    if (id.starts_with(reason.workload) &&
        (best == nullptr || best->workload.size() < reason.workload.size()))
      best = &reason;
  return best == nullptr ? "" : best->why;
}

}  // namespace tiersim
