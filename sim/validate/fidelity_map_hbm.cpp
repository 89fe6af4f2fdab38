// A GPU's memory. At packet level one of its stacks is simulated, and its share of the data sheet's
// rate holds for all.
#include <algorithm>

#include "hwmodels/packet/dram/dram_probe.hpp"
#include "sim/validate/fidelity_map_devices.hpp"

namespace tiersim::fidelity_map {
namespace {

using namespace literals;

constexpr Bytes kStreamRun = 4_KiB;
constexpr std::int64_t kGatheredAtoms = 400'000;

std::int64_t pseudo_channels(const DramConfig& hbm) {
  const auto map = AddressMap::make(hbm.packet_level->address_map);
  TS_EXPECTS(map.has_value(), hbm.channels());
  return static_cast<std::int64_t>(DramShape(*map).pseudo_channels);
}

// Enough to fill every pseudo channel: those of HBM3 need 128 each, and HBM4 has twice as many.
std::int64_t in_flight(const DramConfig& hbm) {
  return std::max<std::int64_t>(4096, 128 * pseudo_channels(hbm));
}

// Atoms in one stack when `payload` is spread over all stacks.
std::int64_t atoms_of_stack(const DramConfig& hbm, Bytes payload) {
  return payload.in_base() / hbm.packet_level->atom.value.in_base() * pseudo_channels(hbm) /
         hbm.channels();
}

// As many atoms of a stream that a refresh has its share: four refresh intervals at least.
std::int64_t stream_atoms(const DramConfig& hbm) {
  constexpr double kIntervals = 4;
  const double seconds = kIntervals * to_seconds(hbm.packet_level->timings.t_refi.value);
  const double stack = static_cast<double>(hbm.peak.value.in_base()) *
                       static_cast<double>(pseudo_channels(hbm)) /
                       static_cast<double>(hbm.channels());
  const double atoms =
      seconds * stack / static_cast<double>(hbm.packet_level->atom.value.in_base());
  return std::max(atoms_of_stack(hbm, kBulk), static_cast<std::int64_t>(atoms));
}

// The share of the rate that writes reach is lost before the stack, so the packet level has the
// same.
double write_limit(const DramConfig& hbm) {
  return hbm.write_limit ? hbm.write_limit->value : 0;
}

// Probes of the stack give a share of the data sheet's rate, in whole atoms.
std::function<LevelAnswer()> packets(const DramConfig& hbm, const DramProbe& probe) {
  return [hbm, probe] {
    const DramProbeResult r = run_dram_probe(*hbm.packet_level, probe);
    const double useful = probe.run / round_up(probe.run, hbm.packet_level->atom.value);
    const DramCounts& c = r.counts;
    return LevelAnswer{
        .value = r.achieved * useful * static_cast<double>(hbm.peak.value.in_base()) / 1e9,
        .events = static_cast<std::uint64_t>(c.served() + c.activates + c.refreshes),
        .simulated = hbm.packet_level->atom.value * c.served()};
  };
}

DramProbe hbm_stream(const DramConfig& hbm, double read_share) {
  return {.pattern = DramPattern::sequential,
          .streams = 16,
          .run = kStreamRun,
          .read_share = read_share,
          .outstanding_atoms = in_flight(hbm),
          .atoms = stream_atoms(hbm),
          .write_limit = write_limit(hbm)};
}
DramProbe hbm_gather(const DramConfig& hbm, Bytes run, double read_share) {
  return {.run = run,
          .read_share = read_share,
          .outstanding_atoms = in_flight(hbm),
          .atoms = kGatheredAtoms,
          .write_limit = write_limit(hbm)};
}

}  // namespace

std::vector<LevelWorkload> of_hbm(const DramConfig& hbm) {
  const std::shared_ptr<MemoryTier> device = make_device(hbm);
  const LevelMeasure rate{};
  Workloads list("hbm", device);
  list.add({"stream", "64 MiB read in order"}, rate,
           {ask_of(*device, Direction::read, kBulk, kStreamRun)}, packets(hbm, hbm_stream(hbm, 1)));
  list.add({"write-stream", "64 MiB written in order"}, rate,
           {ask_of(*device, Direction::write, kBulk, kStreamRun)},
           packets(hbm, hbm_stream(hbm, 0)));
  list.add({"mixed", "2:1 reads and writes in order"}, rate, mixed_asks(*device, kBulk, kStreamRun),
           packets(hbm, hbm_stream(hbm, 2.0 / 3)));
  for (const NamedSize& run : kGatherRuns)
    list.add({std::string("read-") + run.id, std::string("random reads of ") + run.text}, rate,
             {ask_of(*device, Direction::read, kBulk, run.size)},
             packets(hbm, hbm_gather(hbm, run.size, 1)));
  list.add({"write-64b", "random writes of 64 B"}, rate,
           {ask_of(*device, Direction::write, kBulk, 64_B)},
           packets(hbm, hbm_gather(hbm, 64_B, 0)));
  list.add({"mixed-64b", "2:1 reads and writes of 64 B"}, rate, mixed_asks(*device, kBulk, 64_B),
           packets(hbm, hbm_gather(hbm, 64_B, 2.0 / 3)));
  return list.take();
}

}  // namespace tiersim::fidelity_map
