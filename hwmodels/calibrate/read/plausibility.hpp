#pragma once
// Refusal of impossible timings, before anything is fitted to them. A refusal names the case, its
// row and the numbers that contradict each other; all of them are reported at once.
//
//  const Plausible checked = check_timings(timings);
//  for (const TimingRefusal& refusal : checked.refused) ...  // text(refusal)
//
// The rules of refusals:
// - "above the peak": bytes or FLOPs over the time exceed the rate of what can serve them: the
//  link, the FLOP/s of the operand type, memory for cold cases and for the part of warm ones
//  that exceeds L2, L2 for warm ones;
// - "bad interval": the median is not within its own interval;
// - "no bytes": 0 bytes of memory, where the kernel's other cases, three or more, all move some;
// - "duplicate": the same kernel, sizes and work again, with the same time or with another;
// - "mislabelled": a size, type, kernel or temperature in the name contradicts the fields;
// - "bytes against sizes", "FLOPs against sizes": an amount that is not that of the formula of its
//  kernel or family (work_formulas.hpp), where one is stated and the case has its sizes;
// - "elements for bytes", "bits for bytes", "KB against KiB": bytes that differ, by such a
//  factor, from such a formula, or from the one that all other sizes obey exactly;
// - "unit slip": a time 1000 or 10^6 off what other sizes of the kernel allow; or every case of
//  three or more at least 1000 times its lower bound and the fastest launch;
// - "non-monotone": more bytes and more FLOPs than another case, in clearly less time;
// - "off the trend": far above proportion, or from the line between its neighbours in size;
// - the refusals of the reader: "out of range", "repeats apart", "wrong result", "size against
//  count", "algbw against time", and so on.
//
// Bounds from other sizes. A time t0 + g(work), with g monotone and proportional along a ray, as
// in every roofline, obeys t_i <= max(1, k) t_j, k the largest ratio of a work of i to that of j.
// Excess over that is refused beyond noise and model: beyond both intervals, z standard errors, and
// 12 % (a kernel's time by bytes and FLOPs alone is up to 6 % off a case, so 12 % a pair), or 50 %
// where k > 1 (a clock falls from 1.98 to 1.3 GHz under its power limit). Only cases are compared
// whose sizes are all no larger, or all no smaller, and whose blocks, splits and the like are
// equal, and whose rows and tables as well, since these decide the pattern of access; warm ones
// only on the same side of L2.
//
// False alarms. z = sqrt(2 ln(m / (2 a))) for m comparisons and a = 5e-4, from the bound
// P(Z > z) <= exp(-z^2 / 2) / 2: below 1e-3 a file in all, for the normal errors (of log t) that
// the intervals state; 5 % where none is stated. The trend test takes 1.4826 times the median
// absolute deviation of the others of its kernel, five or more, where that is larger. Slips that
// move a time by less than these margins, or the work of a case without sizes or formula, are
// not detected.
#include <string>
#include <string_view>
#include <vector>

#include "hwmodels/calibrate/read/timing.hpp"

namespace tiersim {

/// A suspicious but possible case; the fields are those of a refusal.
using TimingWarning = TimingRefusal;

struct Plausible {
  std::vector<TimingCase> kept;        ///< in the order of the set
  std::vector<TimingRefusal> refused;  ///< those of the whole set first, then by case
  std::vector<TimingWarning> warnings;
  std::vector<std::string> notes;  ///< checks that were not made, with the reason
};

/// "timing.csv:12:5: error: NAME: RULE: REASON"
std::string text(const TimingRefusal& refusal, std::string_view severity = "error");

Plausible check_timings(const TimingSet& timings);

}  // namespace tiersim
