#pragma once
// Model card: collective_form (fitted from timings)
//   Models    a collective operation among the GPUs of one node by a library or an engine: three
//             protocols, of which the fastest counts. Small sizes go with a flag beside the data
//             (LL), or in one shot that sends the whole buffer to every peer; middle ones in two
//             shots or in lines of 128 B (LL128); large ones in chunks (Simple), by rings or by
//             sums in the switch.
//   Equation  t = min(small, middle, large) * exp(surface(ranks, bytes)), the minimum as
//             (sum of t^-8)^(-1/8).
//             h = (ranks - 1)^steps hops; w = passes * (ranks - 1) / ranks * bytes, which a rank
//             sends at least; r(x) = (ranks / 2)^(x - 1), the loss of rate with the ranks.
//             small  = ((t0 + small_hop h)^p + (sent r(small_ranks) / (small_rate port))^p)^(1/p)
//             middle = the same of middle_start, middle_hop and w r(ranks) / (middle_rate port)
//             large  = large_start + large_hop h + w r(ranks) / (large_rate port)
//             sent = 2 w, a flag for each word; in the variants `one shot` of an all-reduce
//             (ranks - 1) * bytes. In the variants `large from` a size (or a size for each of two
//             ranks: bytes * 2 / ranks) the library goes over to `large` there, faster or not.
//             Rates are shares of the port's rate on the data sheet, one way. They can exceed 1
//             where the switch adds up.
//   Ignores   which GPUs share a PCIe root or a socket, but for the loss of rate with the ranks;
//             waiting for the slowest rank; other traffic.
//   Valid     2 to 8 ranks of one node; sizes that were timed.
//   Source    protocols: NCCL's tuning model (src/graph/tuning.cc of NVIDIA/nccl)
//             numbers: timings, by fit_form
//   Checked   tests/unit/hwmodels/collective_form_test.cpp: planted truth
#include "hwmodels/forms/kernel_form.hpp"

namespace tiersim {

struct CollectiveCase {
  double ranks = 2;
  double bytes = 1;   ///< of the whole: of a sum, of all pieces that are gathered or exchanged
  double passes = 1;  ///< 2 for an all-reduce, which adds up and hands out; else 1

  std::vector<double> sizes() const { return {ranks, bytes, passes}; }
};

/// Reads GpuSheet::port alone.
const KernelForm& collective_form();

}  // namespace tiersim
