#include "hwmodels/packet/pcie/pcie_probe.hpp"

#include <cmath>
#include <string>

#include "hwmodels/packet/access_pattern.hpp"
#include "hwmodels/packet/pcie/pcie_fabric.hpp"
#include "hwmodels/packet/probe_window.hpp"
#include "sim/core/engine.hpp"

namespace tiersim {
namespace {

class PcieProbeRun final : public PcieDevice::Owner, public EventHandler {
 public:
  PcieProbeRun(const PciePacketConfig& config, const PcieProbe& probe, MemoryPort* memory)
      : probe_(probe),
        fabric_(engine_, config, static_cast<std::size_t>(probe.devices), memory, *this),
        window_(static_cast<std::size_t>(probe.devices),
                static_cast<std::int64_t>(std::floor(
                    probe.warm_up * static_cast<double>(probe.transfers * probe.devices)))) {
    TS_EXPECTS(probe.transfers > 0 && probe.outstanding > 0, probe.transfers, probe.outstanding);
    for (std::int64_t i = 0; i < probe.devices; ++i) {
      const std::string name = "pcie device " + std::to_string(i);
      sources_.push_back(
          {AccessPattern(probe.seed, name, probe.addresses == PcieProbe::Addresses::random,
                         probe.size, probe.region, probe.read_share),
           Rng(probe.seed, name + " arrivals"), probe.transfers});
    }
  }

  PcieProbeResult run() {
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      if (probe_.offered.in_base() > 0) {
        arrive_later(i);
        continue;
      }
      for (std::int64_t n = 0; n < probe_.outstanding && sources_[i].left > 0; ++n) start(i);
    }
    engine_.run();
    return result();
  }

  void ended(std::size_t device, std::uint64_t transfer) override {
    const SimTime since{Duration(static_cast<std::int64_t>(transfer))};
    window_.ended(engine_.now(), device, since, probe_.size);
    if (window_.open()) latencies_.push_back(engine_.now() - since);
    if (probe_.offered.in_base() == 0 && sources_[device].left > 0) start(device);
  }

  void on_event(Engine&, std::uint64_t device) override {
    start(device);
    if (sources_[device].left > 0) arrive_later(device);
  }

 private:
  struct Source {
    AccessPattern pattern;
    Rng arrivals;
    std::int64_t left;
  };

  void start(std::size_t device) {
    Source& source = sources_[device];
    const AccessPattern::Access access = source.pattern.next();
    window_.began(engine_.now());
    if (--source.left == 0) window_.source_is_dry();
    // A transfer's name is the time at which it began.
    fabric_.device(device).start(
        access.direction, access.address, probe_.size,
        static_cast<std::uint64_t>(engine_.now().time_since_epoch().count()));
  }
  void arrive_later(std::size_t device) {
    const Duration gap = next_arrival(sources_[device].arrivals, probe_.size, probe_.offered);
    engine_.schedule(engine_.now() + gap, *this, device);
  }

  PcieProbeResult result() {
    TS_ENSURES(window_.present() == 0, window_.present());
    PcieProbeResult r;
    r.bandwidth = window_.bandwidth();
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      r.of_device.push_back(window_.bandwidth_of(i));
      r.most_tags = std::max(r.most_tags, fabric_.device(i).most_tags());
    }
    r.latency = summarise(latencies_);
    r.mean_in_system = window_.mean_present();
    r.elapsed = window_.elapsed();
    r.stays = window_.stays();
    r.transfers = window_.count();
    r.payload = window_.payload();
    r.wire_up = fabric_.root_up().wire().sent();
    r.wire_down = fabric_.root_down().wire().sent();
    for (const auto& channel : fabric_.channels()) {
      r.packets += channel->delivered();
      r.packets_left_behind += channel->entered() - channel->delivered();
      r.credits_issued += channel->credits_issued();
      r.credits_held += channel->credits_held();
    }
    r.events = engine_.events();
    return r;
  }

  PcieProbe probe_;
  Engine engine_;
  PcieFabric fabric_;
  ProbeWindow window_;
  std::vector<Source> sources_;
  std::vector<Duration> latencies_;
};

}  // namespace

PcieProbeResult run_pcie_probe(const PciePacketConfig& config, const PcieProbe& probe,
                               MemoryPort* memory) {
  return PcieProbeRun(config, probe, memory).run();
}

}  // namespace tiersim
