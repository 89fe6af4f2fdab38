#pragma once
// Model card: loaded_latency (fidelity: flow)
//   Models    the latency that queueing adds to the unloaded latency of a memory or link, by the
//             payload rate, the share of reads in it and the contiguous bytes of an access: a
//             family of curves, one for each read share and run that was measured or simulated.
//   Equation  load u = payload rate / the peak rate of the device. A curve is a list of points,
//             joined by straight lines, from zero at u = 0 to its end. Between two read shares and
//             between two runs the curves are interpolated at the same share of their ends: with a
//             weight w_i of each neighbour, the curve ends at u_end = sum w_i u_i, and at x = u /
//             u_end its value is the sum of w_i times curve i at x u_i. So a mix saturates between
//             its neighbours, and the value never falls with the rate. Weights are linear in the
//             read share and in 1 / run, since the rows that a byte opens go as 1 / run.
//   Ignores   the addresses and the requester of an access; bursts. Nothing is extrapolated:
//             beyond the end of a curve its last value holds, and beyond the outer read shares and
//             runs the outer curves hold.
//   Valid     a load that lasts longer than the queues take to fill.
//   Source    the form of the data: Mess benchmark (Esmaili-Dokht et al., MICRO 2024).
//   Checked   tests/unit/hwmodels/loaded_latency_test.cpp
#include <vector>

#include "sim/base/number_class.hpp"
#include "sim/config/fields.hpp"

namespace tiersim {

/// Points of one read share and run, in rising order of the load.
struct LatencyLine {
  Bytes run{};  ///< contiguous bytes of an access; where all lines have one run, it holds for any
  double read_share = 1;
  std::vector<double> loads;     ///< payload rate over that of the device, above 0
  std::vector<double> added_ps;  ///< latency beyond that without load; never falls
};

class LoadedLatency {
 public:
  /// `lines` is not empty and has no two of the same run and read share; each has a point.
  /// `whole` is the payload rate at a load of 1.
  LoadedLatency(std::vector<LatencyLine> lines, Bandwidth whole);

  /// Added latency at this payload rate; it never falls as the rate grows. `run` > 0.
  Duration at(Bandwidth rate, double read_share, Bytes run) const;

 private:
  struct Group {  ///< lines of one run, by rising read share
    double runs_of_byte;
    std::vector<LatencyLine> lines;
  };
  std::vector<Group> groups_;  ///< by rising run
  Bandwidth whole_;
};

/// Points of a link's curve, as they stand in YAML.
struct LatencyPoint {
  double load = 0;
  Sourced<Duration> added;
};
struct LatencyCurve {
  double read_share = 1;
  std::vector<LatencyPoint> points = {};
};
struct LatencyFamily {
  std::vector<LatencyCurve> by_read_share = {};  ///< in rising order of the read share

  std::vector<LatencyLine> lines() const;
};

void describe(Fields& f, LatencyPoint& c);
void describe(Fields& f, LatencyCurve& c);
void describe(Fields& f, LatencyFamily& c);

}  // namespace tiersim
