#pragma once
// Computes the numbers of a DRAM's flow level from its packet level, for memories that nobody has
// timed: the efficiencies, the row time, and the latency under load by run length and read share.
//   Equation  `reaches` is the share of peak that Poisson arrivals get where as much is offered as
//             a closed loop of 4096 atoms gets. The latency at a share of it is the mean of reads
//             under Poisson arrivals, less the mean at a thousandth of the peak or, for streams,
//             less the time of a row that has to be opened. The last point is taken at .97 of what
//             is reached, since a queue at the limit never settles. A point that is below the one
//             before it, which is noise, takes that one's latency. The longest run stands for
//             streams: 112 streams that read lines of 64 B, which is two streams for each core of
//             a server's CPU. Shorter runs lie at random. write_efficiency is the one with which a
//             mix of equal shares in the order of streams reaches what packets reach; row_time is
//             that of single atoms at random, and 0 where these reach .97 of what streams reach.
//   Ignores   everything that pseudo_channel ignores, and what lies between the requester and the
//             memory controller, so `latency` is not found here.
//   Checked   tests/unit/hwmodels/dram_fit_test.cpp; `tiersim validate hardware` holds the shipped
//             results against measured curves.
#include <vector>

#include "hwmodels/memory/dram.hpp"

namespace tiersim {

struct DramFit {
  double read_efficiency = 0;
  double write_efficiency = 0;
  Duration row_time{};
  std::vector<double> loads = {};  ///< shares of what a curve reaches
  std::vector<DramLatencyCurve> curves = {};
};

/// Precondition: the memory has packet-level numbers. The same numbers give the same fit. `atoms`
/// is the length of each of some three hundred probes; with the default they take ten seconds.
DramFit fit_dram(const DramConfig& memory, std::int64_t atoms = 200'000);

}  // namespace tiersim
