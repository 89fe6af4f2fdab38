#pragma once
// Microbenchmarks of a DRAM at packet level: streams or random runs, reads mixed with posted
// writes, a fixed number of outstanding atoms or Poisson arrivals. For random reads of 64 B with
// 256 outstanding atoms, `run_dram_probe(config, {.run = 64_B}).achieved` is the reached share of
// the data-sheet bandwidth.
#include "hwmodels/packet/dram/pseudo_channel.hpp"
#include "hwmodels/packet/latency_summary.hpp"

namespace tiersim {

enum class DramPattern : std::uint8_t { sequential, random };
enum class DramArrivals : std::uint8_t { closed, poisson };

/// A transaction is one run of neighbouring bytes; all its atoms are requested at once.
struct DramProbe {
  DramPattern pattern = DramPattern::random;
  std::int64_t streams = 1;  ///< of a sequential pattern, each from a random start
  Bytes run = Bytes::from_base(256);
  double read_share = 1.0;  ///< of the transactions
  DramArrivals arrivals = DramArrivals::closed;
  /// Closed loop: a transaction begins when another is complete.
  std::int64_t outstanding_atoms = 256;
  double offered = 0.5;  ///< Poisson: share of the data-sheet bandwidth
  std::int64_t atoms = 60'000;
  std::uint64_t seed = 1;
  /// Writes arrive at this share of the data-sheet bandwidth at most, and what comes after them
  /// waits: a limit before the memory (`write_limit` of a DRAM). It holds on average: what a
  /// refresh held back, over a refresh interval at most, may be made up for. 0: none.
  double write_limit = 0;
};

struct DramProbeResult {
  double achieved = 0;  ///< share of the data-sheet bandwidth, from 0 to the last completion
  Bandwidth bandwidth{};
  LatencySummary atom;         ///< reads: arrival to the end of its data
  LatencySummary transaction;  ///< reads: arrival to the end of the last atom's data
  double mean_in_system = 0;   ///< atoms, integrated over time
  double mean_stay = 0;        ///< clocks that an atom, read or write, spends in the system
  Duration elapsed{};
  DramCounts counts;  ///< of all pseudo channels
};

/// Precondition: `config` has passed describe(). The same arguments give the same result.
DramProbeResult run_dram_probe(const DramPacketConfig& config, const DramProbe& probe);

/// The same probe with the commands of each pseudo channel, for the checker.
DramProbeResult run_dram_probe(const DramPacketConfig& config, const DramClocks& clocks,
                               const DramProbe& probe, std::vector<DramTrace>& traces);

}  // namespace tiersim
