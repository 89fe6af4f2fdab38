// The packet level's answers. A device takes part with the `packet` mapping of its file; where the
// hardware of a curve has no model, or says too little, the answer is why.
#include <algorithm>

#include "hwmodels/memory/dram.hpp"
#include "hwmodels/packet/cxl/cxl_probe.hpp"
#include "hwmodels/packet/cxl/from_flow.hpp"
#include "hwmodels/packet/dram/dram_probe.hpp"
#include "hwmodels/packet/pcie/from_flow.hpp"
#include "hwmodels/packet/pcie/pcie_probe.hpp"
#include "sim/run/hardware/level_readings.hpp"

namespace tiersim {
namespace {

using namespace literals;

constexpr double kGiga = 1e9;

constexpr const char* kMoreThanServed =
    "this load is more than it serves: what waits grows without end";

double in_ns(Duration time) {
  return static_cast<double>(time.count()) * 1e-3;
}
double in_giga(Bandwidth rate) {
  return static_cast<double>(rate.in_base()) / kGiga;
}

LevelReading none(std::string why) {
  return {.value = {}, .why_none = std::move(why)};
}

LevelReading of_rate(ProbeQuantity quantity, Bandwidth rate, Bytes run) {
  const double giga = in_giga(rate);
  return {quantity == ProbeQuantity::accesses ? giga / static_cast<double>(run.in_base()) : giga};
}

// The file's latency is that of a row that must be opened after another one was closed, with the
// way to the memory, which is what is left of it: ns.
double way_to(const DramConfig& memory, const DramPacketConfig& stack) {
  const DramClocks clocks(stack.timings);
  const Duration row(clocks.period_ps * (clocks.rp + clocks.rcd + clocks.cl + clocks.burst));
  return std::max(0.0, in_ns(memory.latency.value - row));
}

// One stack under its share of the load; the other stacks are copies of it.
LevelReading read_dram(const DramConfig& memory, const DramPacketConfig& stack,
                       ProbeQuantity quantity, const ProbeWorkload& asked) {
  const Bytes run = asked.run.value_or(4_KiB);
  const auto peak = static_cast<double>(memory.peak.value.in_base());
  const bool random = asked.pattern.value_or(ProbePattern::sequential) == ProbePattern::random;
  DramProbe probe{.pattern = random ? DramPattern::random : DramPattern::sequential,
                  .streams = asked.streams.value_or(16),
                  .run = run,
                  .read_share = asked.read_share.value_or(1),
                  .outstanding_atoms = asked.outstanding.value_or(4096),
                  .atoms = 400'000};
  if (quantity != ProbeQuantity::latency) {
    const double share = run_dram_probe(stack, probe).achieved;
    if (quantity == ProbeQuantity::share_of_peak) return {share};
    const double accesses =
        share * peak / static_cast<double>(round_up(run, memory.atom.value).in_base());
    if (quantity == ProbeQuantity::accesses) return {accesses / kGiga};
    return {accesses * static_cast<double>(run.in_base()) / kGiga};
  }
  constexpr double kIdle = 1e-3;
  probe.offered = asked.rate ? static_cast<double>(asked.rate->in_base()) / peak : 0;
  probe.offered = std::max(probe.offered, kIdle);
  if (probe.offered >= run_dram_probe(stack, probe).achieved) return none(kMoreThanServed);
  probe.arrivals = DramArrivals::poisson;
  return {way_to(memory, stack) + in_ns(run_dram_probe(stack, probe).atom.mean)};
}

LevelReading read_pcie(const PcieConfig& link, const PciePacketDetails& details,
                       ProbeQuantity quantity, const ProbeWorkload& asked) {
  const bool latency = quantity == ProbeQuantity::latency;
  PcieProbe probe;
  probe.size = asked.run.value_or(4_KiB);
  probe.read_share = asked.read_share.value_or(1);
  probe.outstanding = asked.outstanding.value_or(latency ? 1 : 1024);
  probe.transfers =
      latency ? 2'000 : std::max<std::int64_t>(2'000, (32_MiB).in_base() / probe.size.in_base());
  if (asked.rate) probe.offered = *asked.rate;
  const PcieProbeResult result = run_pcie_probe(with_flow(details, link), probe);
  if (latency) return {in_ns(result.latency.mean)};
  return of_rate(quantity, result.bandwidth, probe.size);
}

LevelReading read_cxl(const CxlConfig& link, const CxlPacketDetails& details,
                      ProbeQuantity quantity, const ProbeWorkload& asked) {
  const bool latency = quantity == ProbeQuantity::latency;
  CxlProbe probe;
  probe.size = asked.run.value_or(64_B);
  probe.read_share = asked.read_share.value_or(1);
  probe.outstanding = asked.outstanding.value_or(latency ? 1 : 128);
  const CxlPacketConfig config = with_flow(details, link);
  if (asked.rate) {
    CxlProbe saturating = probe;
    saturating.outstanding = details.host.outstanding.value;
    if (*asked.rate >= run_cxl_probe(config, saturating).bandwidth) return none(kMoreThanServed);
    probe.offered = *asked.rate;
  }
  const CxlProbeResult result = run_cxl_probe(config, probe);
  if (latency) return {in_ns(result.read.mean)};
  return of_rate(quantity, result.bandwidth, probe.size);
}

}  // namespace

LevelReading read_packet(const HardwareCurve& curve, const ReferencePoint& point) {
  const ProbeWorkload asked = point.at.over(curve.at);
  const ProbeQuantity quantity = curve.facts.quantity;
  if (curve.collective || curve.requester || curve.links.size() > 1 ||
      (curve.memory && !curve.links.empty()))
    return none("no packet-level model joins these devices");
  if (curve.memory) {
    const auto* memory = config_of<DramConfig>(*curve.memory->spec);
    if (memory != nullptr && memory->packet)
      return read_dram(*memory, *memory->packet, quantity, asked);
  } else {
    const DeviceSpec<Link>& link = *curve.links.front().spec;
    const auto* pcie = config_of<PcieConfig>(link);
    if (pcie != nullptr && pcie->packet) return read_pcie(*pcie, *pcie->packet, quantity, asked);
    const auto* cxl = config_of<CxlConfig>(link);
    if (cxl != nullptr && cxl->packet && cxl->ports.value == 1)
      return read_cxl(*cxl, *cxl->packet, quantity, asked);
  }
  return none("its file has no packet mapping");
}

}  // namespace tiersim
