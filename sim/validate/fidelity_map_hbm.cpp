// A GPU's memory. At packet level one of its stacks is simulated, and its share of the data sheet's
// rate holds for all.
#include "hwmodels/packet/dram/dram_probe.hpp"
#include "sim/validate/fidelity_map_devices.hpp"

namespace tiersim::fidelity_map {
namespace {

using namespace literals;

constexpr Bytes kStreamRun = 4_KiB;
constexpr std::int64_t kGatheredAtoms = 400'000;

// Atoms in one stack when `payload` is spread over all stacks.
std::int64_t atoms_of_stack(const DramConfig& hbm, Bytes payload) {
  const auto map = AddressMap::make(hbm.packet_level->address_map);
  TS_EXPECTS(map.has_value(), hbm.channels());
  const auto channels = static_cast<std::int64_t>(DramShape(*map).pseudo_channels);
  return payload.in_base() / hbm.packet_level->atom.value.in_base() * channels / hbm.channels();
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
          .outstanding_atoms = 4096,
          .atoms = atoms_of_stack(hbm, kBulk)};
}
DramProbe hbm_gather(Bytes run, double read_share) {
  return {.run = run, .read_share = read_share, .outstanding_atoms = 4096, .atoms = kGatheredAtoms};
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
             packets(hbm, hbm_gather(run.size, 1)));
  list.add({"write-64b", "random writes of 64 B"}, rate,
           {ask_of(*device, Direction::write, kBulk, 64_B)}, packets(hbm, hbm_gather(64_B, 0)));
  list.add({"mixed-64b", "2:1 reads and writes of 64 B"}, rate, mixed_asks(*device, kBulk, 64_B),
           packets(hbm, hbm_gather(64_B, 2.0 / 3)));
  return list.take();
}

}  // namespace tiersim::fidelity_map
