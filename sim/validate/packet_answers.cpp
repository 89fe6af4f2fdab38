// The packet level's results. A device takes part with the `packet_level` mapping of its file. If
// the hardware of a curve has no model, or lacks numbers, the result is the reason.
#include "sim/validate/packet_answers.hpp"

#include <algorithm>

#include "hwmodels/memory/dram.hpp"
#include "hwmodels/packet/cxl/cxl_probe.hpp"
#include "hwmodels/packet/cxl/from_flow.hpp"
#include "hwmodels/packet/dram/dram_probe.hpp"
#include "hwmodels/packet/dram_memory.hpp"
#include "hwmodels/packet/pcie/from_flow.hpp"
#include "hwmodels/packet/pcie/pcie_probe.hpp"
#include "sim/validate/hardware_answers.hpp"

namespace tiersim {
namespace {

using namespace literals;

constexpr const char* kNotJoined = "no packet-level model joins these devices";
constexpr const char* kNoMapping = "its file has no packet_level mapping";
constexpr const char* kMoreThanServed =
    "this load is more than it serves: what waits grows without end";

double in_ns(Duration time) {
  return static_cast<double>(time.count()) * 1e-3;
}
double in_giga(Bandwidth rate) {
  return static_cast<double>(rate.in_base()) / kGiga;
}

LevelResult of_rate(ProbeQuantity quantity, Bandwidth rate, Bytes run) {
  const double giga = in_giga(rate);
  return {quantity == ProbeQuantity::accesses ? giga / static_cast<double>(run.in_base()) : giga};
}

// The rest of the file's latency, which is that of the path to the memory, in ns: the file's
// latency includes opening a row after closing another one.
double way_to(const DramConfig& memory, const DramPacketConfig& stack) {
  const DramClocks clocks(stack.timings);
  const Duration row(clocks.period_ps * (clocks.rp + clocks.rcd + clocks.cl + clocks.burst));
  return std::max(0.0, in_ns(memory.latency.value - row));
}

// Enough for each pseudo channel to pass some refreshes, within a tenth of a second of run time.
std::int64_t atoms_for(const DramPacketConfig& stack) {
  const DramShape shape(*AddressMap::make(stack.address_map));
  const auto channels = static_cast<std::int64_t>(shape.pseudo_channels);
  return std::clamp<std::int64_t>(50'000 * channels, 100'000, 400'000);
}

// A write of part of an atom is a read and a write of the atom, each with its own row.
double saturated_dram(DramProbes& probes, const DramConfig& memory, const DramPacketConfig& stack,
                      ProbeQuantity quantity, DramProbe probe) {
  const double read_first = probe.run < memory.atom.value ? 1 - probe.read_share : 0;
  probe.read_share = (probe.read_share + read_first) / (1 + read_first);
  const double share = probes.result(stack, probe).achieved / (1 + read_first);
  if (quantity == ProbeQuantity::share_of_peak) return share;
  const double accesses = share * static_cast<double>(memory.peak.value.in_base()) /
                          static_cast<double>(round_up(probe.run, memory.atom.value).in_base());
  if (quantity == ProbeQuantity::accesses) return accesses / kGiga;
  return accesses * static_cast<double>(probe.run.in_base()) / kGiga;
}

// One stack under its share of the load; the other stacks are copies of it.
LevelResult read_dram(DramProbes& probes, const DramConfig& memory, const DramPacketConfig& stack,
                      ProbeQuantity quantity, const ProbeWorkload& asked) {
  const Bytes run = asked.run.value_or(4_KiB);
  const auto peak = static_cast<double>(memory.peak.value.in_base());
  const bool random = asked.pattern.value_or(ProbePattern::sequential) == ProbePattern::random;
  DramProbe probe{.pattern = random ? DramPattern::random : DramPattern::sequential,
                  .streams = asked.streams.value_or(16),
                  .run = run,
                  .read_share = asked.read_share.value_or(1),
                  .outstanding_atoms = asked.outstanding.value_or(4096),
                  .atoms = atoms_for(stack)};
  if (quantity != ProbeQuantity::latency)
    return {saturated_dram(probes, memory, stack, quantity, probe)};
  constexpr double kIdle = 1e-3;
  probe.offered = asked.rate ? static_cast<double>(asked.rate->in_base()) / peak : 0;
  probe.offered = std::max(probe.offered, kIdle);
  if (probe.offered >= probes.result(stack, probe).achieved) return no_packets(kMoreThanServed);
  probe.arrivals = DramArrivals::poisson;
  return {way_to(memory, stack) + in_ns(probes.result(stack, probe).atom.mean)};
}

LevelResult read_pcie(const PcieConfig& link, const PciePacketDetails& details,
                      ProbeQuantity quantity, const ProbeWorkload& asked) {
  const bool latency = quantity == ProbeQuantity::latency;
  PcieProbe probe;
  probe.size = asked.run.value_or(4_KiB);
  probe.read_share = asked.read_share.value_or(1);
  probe.outstanding = asked.outstanding.value_or(latency ? 1 : 1024);
  probe.transfers =
      latency ? 2'000 : std::max<std::int64_t>(200, (2_MiB).in_base() / probe.size.in_base());
  if (asked.rate) probe.offered = *asked.rate;
  const PcieProbeResult result = run_pcie_probe(with_flow(details, link), probe);
  if (latency) return {in_ns(result.latency.mean)};
  return of_rate(quantity, result.bandwidth, probe.size);
}

// All stacks or modules of a memory.
DramMemory modules_of(const DramConfig& memory, const DramPacketConfig& stack) {
  const DramShape shape(*AddressMap::make(stack.address_map));
  const double each = static_cast<double>(channel_peak(stack).in_base()) *
                      static_cast<double>(shape.pseudo_channels);
  const double count = static_cast<double>(memory.peak.value.in_base()) / each + 0.5;
  return DramMemory(stack, std::max<std::size_t>(1, static_cast<std::size_t>(count)),
                    memory.interleave.value);
}

// One port, with the memory of an expander behind it or the memory in the link's own file.
LevelResult read_cxl(const CxlConfig& link, const CxlPacketDetails& details,
                     const DramConfig* memory, ProbeQuantity quantity, const ProbeWorkload& asked) {
  const bool latency = quantity == ProbeQuantity::latency;
  CxlProbe probe;
  probe.size = asked.run.value_or(64_B);
  probe.read_share = asked.read_share.value_or(1);
  const std::int64_t lines = probe.size.in_base() / 64;
  const std::int64_t enough = std::max<std::int64_t>(128, 4 * lines);
  probe.outstanding = asked.outstanding.value_or(latency ? 1 : enough);
  if (asked.pattern.value_or(ProbePattern::random) == ProbePattern::sequential)
    probe.addresses = CxlProbe::Addresses::sequential;
  const CxlPacketConfig config = with_flow(details, link);
  const auto run = [&](const CxlProbe& p) {
    if (memory == nullptr) return run_cxl_probe(config, p);
    DramMemory modules = modules_of(*memory, *memory->packet_level);
    return run_cxl_probe(config, p, {&modules});
  };
  if (asked.rate) {
    CxlProbe saturating = probe;
    saturating.outstanding = details.host.outstanding.value;
    if (*asked.rate >= run(saturating).bandwidth) return no_packets(kMoreThanServed);
    probe.offered = *asked.rate;
  }
  const CxlProbeResult result = run(probe);
  if (!latency) return of_rate(quantity, result.bandwidth, probe.size);
  const double way = memory != nullptr ? way_to(*memory, *memory->packet_level) : 0;
  return {way + in_ns(result.read.mean)};
}

// Links of one hop, except NVLink.
LevelResult read_link(const HardwareCurve& curve, const DramConfig* memory,
                      const ProbeWorkload& asked) {
  const ProbeQuantity quantity = curve.facts.quantity;
  const DeviceSpec<Link>& link = *curve.links.front().spec;
  const auto* pcie = config_of<PcieConfig>(link);
  if (pcie != nullptr && pcie->packet_level && !curve.memory)
    return read_pcie(*pcie, *pcie->packet_level, quantity, asked);
  const auto* cxl = config_of<CxlConfig>(link);
  if (cxl != nullptr && cxl->packet_level && cxl->port_count() == 1)
    return read_cxl(*cxl, *cxl->packet_level, memory, quantity, asked);
  return no_packets(curve.memory ? kNotJoined : kNoMapping);
}

}  // namespace

LevelResult packet_result(const HardwareCurve& curve, const ReferencePoint& point) {
  DramProbes probes;
  return packet_result(curve, point, probes);
}

LevelResult packet_result(const HardwareCurve& curve, const ReferencePoint& point,
                          DramProbes& probes) {
  const ProbeWorkload asked = point.at.over(curve.at);
  if (curve.collective) return read_collective(curve, asked);
  if (asked.cpu_rate) return no_packets("the traffic of CPUs has no model at packet level");
  if (curve.requester) return no_packets("a requester has no model at packet level");
  if (!curve.memory && is_nvlink(curve)) return read_nvlink(curve, asked);
  if (curve.links.size() > 1) return no_packets(kNotJoined);
  const DramConfig* memory = curve.memory ? config_of<DramConfig>(*curve.memory->spec) : nullptr;
  if (curve.memory && (memory == nullptr || !memory->packet_level)) return no_packets(kNoMapping);
  if (!curve.links.empty()) return read_link(curve, memory, asked);
  return read_dram(probes, *memory, *memory->packet_level, curve.facts.quantity, asked);
}

}  // namespace tiersim
