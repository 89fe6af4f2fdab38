#include "hwmodels/memory/dram_fit.hpp"

#include <algorithm>
#include <array>

#include "hwmodels/packet/dram/dram_probe.hpp"

namespace tiersim {
namespace {

using namespace literals;

constexpr std::int64_t kAtomsInFlight = 4096;
constexpr std::int64_t kStreams = 112;
constexpr Bytes kLine = 64_B;
constexpr Bytes kStreamRun = 4_KiB;
constexpr double kIdle = 1e-3;       // of peak
constexpr double kHighest = 0.97;    // of what is reached
constexpr double kRowsLimit = 0.97;  // of streams: single atoms that reach less wait for rows
constexpr std::array kLoads{0.1, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0};
constexpr std::array kReadShares{0.25, 0.5, 0.75, 0.9, 1.0};

// The probes of one memory.
class Probes {
 public:
  Probes(const DramConfig& memory, std::int64_t atoms)
      : config_(*memory.packet_level), atoms_(atoms) {}

  double reached(Bytes run, double read_share) const;
  DramLatencyCurve curve(Bytes run, double read_share) const;

 private:
  DramProbe probe(Bytes run, double read_share) const;
  Duration latency_at(Bytes run, double read_share, double offered) const;

  const DramPacketConfig& config_;
  std::int64_t atoms_;
};

DramProbe Probes::probe(Bytes run, double read_share) const {
  const bool streams = run >= kStreamRun;
  return {.pattern = streams ? DramPattern::sequential : DramPattern::random,
          .streams = kStreams,
          .run = streams ? std::max(kLine, config_.atom.value) : run,
          .read_share = read_share,
          .outstanding_atoms = kAtomsInFlight,
          .atoms = atoms_};
}

// A closed loop is served more than arrivals at random times are, since posted writes end early.
double Probes::reached(Bytes run, double read_share) const {
  DramProbe probe = this->probe(run, read_share);
  probe.offered = std::min(1.0, run_dram_probe(config_, probe).achieved);
  probe.arrivals = DramArrivals::poisson;
  return run_dram_probe(config_, probe).achieved;
}

Duration Probes::latency_at(Bytes run, double read_share, double offered) const {
  DramProbe probe = this->probe(run, read_share);
  probe.arrivals = DramArrivals::poisson;
  probe.offered = offered;
  return run_dram_probe(config_, probe).atom.mean;
}

DramLatencyCurve Probes::curve(Bytes run, double read_share) const {
  DramLatencyCurve curve{.run = run, .read_share = read_share, .reaches = reached(run, read_share)};
  // Streams find rows open, whereas `latency` is that of a row to be opened.
  const Duration idle = run >= kStreamRun ? DramClocks(config_.timings).row_latency()
                                          : latency_at(run, read_share, kIdle);
  Duration last{};
  for (const double load : kLoads) {
    const double offered = curve.reaches * std::min(load, kHighest);
    last = std::max(last, latency_at(run, read_share, offered) - idle);
    curve.added.push_back(last);
  }
  return curve;
}

// From one atom to the interleave and beyond, then streams.
std::vector<Bytes> runs_from(Bytes atom) {
  std::vector<Bytes> runs{atom};
  for (const Bytes run : {128_B, 256_B, 1_KiB})
    if (run > runs.back()) runs.push_back(run);
  runs.push_back(kStreamRun);
  return runs;
}

}  // namespace

DramFit fit_dram(const DramConfig& memory, std::int64_t atoms) {
  TS_EXPECTS(memory.packet_level.has_value());
  const Probes probes(memory, atoms);
  const Bytes atom = memory.packet_level->atom.value;
  DramFit fit;
  fit.loads.assign(kLoads.begin(), kLoads.end());
  for (const Bytes run : runs_from(atom))
    for (const double read_share : kReadShares) fit.curves.push_back(probes.curve(run, read_share));
  fit.read_efficiency = probes.reached(kStreamRun, 1);
  // Half of the bytes at each efficiency: 1 / reached = .5 / read + .5 / write.
  const double writes = 1 / probes.reached(kStreamRun, 0.5) - 0.5 / fit.read_efficiency;
  fit.write_efficiency = std::clamp(0.5 / writes, 0.01, 1.0);
  const double alone = probes.reached(atom, 1);
  const double channel = static_cast<double>(channel_peak(*memory.packet_level).in_base());
  if (alone < kRowsLimit * fit.read_efficiency)
    fit.row_time = Duration(
        static_cast<std::int64_t>(static_cast<double>(atom.in_base()) / (alone * channel) * 1e12));
  return fit;
}

}  // namespace tiersim
