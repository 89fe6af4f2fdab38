#pragma once
// The latency that queueing adds in a DRAM, as tables of curves by run and read share: those that
// its packet level gives (`tiersim calibrate memory` writes them), and those that were measured,
// which take the place of the former at the same run and read share.
#include <optional>
#include <vector>

#include "hwmodels/loaded_latency.hpp"

namespace tiersim {

struct DramLatencyCurve {
  Bytes run;              ///< contiguous bytes of an access; the longest stands for streams
  double read_share = 1;  ///< of the payload
  double reaches = 1;     ///< share of peak at the end of the curve
  std::vector<Duration> added = {};  ///< one for each of the table's loads
};

struct DramLatencyTable {
  Sourced<double> scale;           ///< of all added latencies; carries their class and source
  std::vector<double> loads = {};  ///< shares of `reaches`, in rising order, the last one 1
  std::vector<DramLatencyCurve> curves = {};
};

struct DramQueueing {
  std::optional<DramLatencyTable> packets = {};
  std::optional<DramLatencyTable> measured = {};

  /// The curves of both tables. Precondition: describe() found no mistake.
  std::vector<LatencyLine> lines() const;
};

void describe(Fields& f, DramLatencyCurve& c);
void describe(Fields& f, DramLatencyTable& c);
void describe(Fields& f, DramQueueing& c);

}  // namespace tiersim
