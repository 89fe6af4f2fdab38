#pragma once
// Model card: loaded_latency (fidelity: flow)
//   Models    what queueing in a memory or link adds to its unloaded latency, by the payload that
//             it serves and the share of reads in it: a family of curves, one for each read share
//             that somebody measured.
//   Equation  load u = payload rate / the rate that the device names. A curve is a formula,
//             scale * u^exponent / (1 - u / saturation) for u <= .98 saturation, or points that
//             straight lines join, from nothing at u = 0. At a read share between two curves:
//             u_end = that share of the way between their ends, x = u / u_end, and the value is as
//             far between the values of the two at the same share x of their own ends. So a mix
//             saturates between its neighbours, and the value never falls with the rate.
//   Ignores   which addresses and who asks; bursts. Nothing is extrapolated: beyond the end of a
//             curve its last value holds, and beyond the outer read shares the outer curves do.
//   Valid     a load that lasts longer than the queues need to fill.
//   Source    the form of the data: Mess benchmark (Esmaili-Dokht et al., MICRO 2024).
//   Checked   tests/unit/hwmodels/loaded_latency_test.cpp
#include <optional>
#include <vector>

#include "sim/base/number_class.hpp"
#include "sim/config/fields.hpp"

namespace tiersim {

struct LatencyFormula {
  Sourced<Duration> scale;
  Sourced<double> exponent;
  Sourced<double> saturation;
};

struct LatencyPoint {
  double load = 0;
  Sourced<Duration> added;
};

/// At one read share: a formula, or points in rising order.
struct LatencyCurve {
  double read_share = 1;
  std::optional<LatencyFormula> formula = {};
  std::vector<LatencyPoint> points = {};
};

struct LatencyFamily {
  std::vector<LatencyCurve> by_read_share = {};  ///< in rising order of the share
};

void describe(Fields& f, LatencyFormula& c);
void describe(Fields& f, LatencyPoint& c);
void describe(Fields& f, LatencyCurve& c);
void describe(Fields& f, LatencyFamily& c);
/// The list of a family, among the fields of a mapping that is more than one.
void describe_curves(Fields& f, std::vector<LatencyCurve>& curves);

class LoadedLatency {
 public:
  /// `curves` is not empty and has passed describe(); a load of 1 is `whole`.
  LoadedLatency(std::vector<LatencyCurve> curves, Bandwidth whole);

  /// Added at this payload rate; never falls with it.
  Duration at(Bandwidth rate, double read_share) const;

 private:
  std::vector<LatencyCurve> curves_;
  Bandwidth whole_;
};

}  // namespace tiersim
