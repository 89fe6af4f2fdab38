#pragma once
// Model card: loaded_latency (fidelity: flow)
//   Models    the latency that queueing adds to the unloaded latency of a memory or link, by the
//             payload rate and the share of reads in it: a family of curves, one for each read
//             share that was measured.
//   Equation  load u = payload rate / the peak rate of the device. A curve is either a formula,
//             scale * u^exponent / (1 - u / saturation) for u <= .98 saturation, or points joined
//             by straight lines, from zero at u = 0. A read share r between the shares r0 and r1
//             of two curves is interpolated: with w = (r - r0) / (r1 - r0), the curve for r ends
//             at u_end = (1 - w) u0_end + w u1_end, and with x = u / u_end its value is (1 - w)
//             times the first curve at x u0_end plus w times the second at x u1_end. So a mix
//             saturates between its neighbours, and the value never falls with the rate.
//   Ignores   the addresses and the requester of an access; bursts. Nothing is extrapolated:
//             beyond the end of a curve its last value holds, and beyond the outer read shares
//             the outer curves hold.
//   Valid     a load that lasts longer than the queues take to fill.
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

/// The curve at one read share: either a formula, or points in rising order of load.
struct LatencyCurve {
  double read_share = 1;
  std::optional<LatencyFormula> formula = {};
  std::vector<LatencyPoint> points = {};
};

struct LatencyFamily {
  std::vector<LatencyCurve> by_read_share = {};  ///< in rising order of the read share
};

void describe(Fields& f, LatencyFormula& c);
void describe(Fields& f, LatencyPoint& c);
void describe(Fields& f, LatencyCurve& c);
void describe(Fields& f, LatencyFamily& c);
/// Describes the list of a family as one field of a larger mapping.
void describe_curves(Fields& f, std::vector<LatencyCurve>& curves);

class LoadedLatency {
 public:
  /// `curves` is not empty and has passed describe(); `whole` is the payload rate at a load of 1.
  LoadedLatency(std::vector<LatencyCurve> curves, Bandwidth whole);

  /// Added latency at this payload rate; it never falls as the rate grows.
  Duration at(Bandwidth rate, double read_share) const;

 private:
  std::vector<LatencyCurve> curves_;
  Bandwidth whole_;
};

}  // namespace tiersim
