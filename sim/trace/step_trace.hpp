#pragma once
// A step as a timeline that Perfetto (ui.perfetto.dev) loads; of a server over time see
// serving/serving_trace.hpp, of the format trace_writer.hpp.
//
//   each GPU     a process: a track for its kernels and one for each kind of transfer (several
//                where transfers of a kind overlap), arrows from what ends to what waited for it on
//                another track; counters: payload moved so far through each device, which end at
//                the accounting's traffic, and kernels that wait for the compute unit
//   the devices  a process: a track for each channel (direction of a link, of a tier's memory, of
//                the copy engine) of each instance, with the operations whose bytes pass it;
//                counters: operations that move bytes through it and that wait to do so, and its
//                utilisation, which is the share of its capacity that was taken since the last
//                operation on it began or ended
//
// Utilisation is what the engine's links count, so the step is run once more for it. Windows in
// which a channel could take less than 16 KiB are joined to what follows, since bytes in flight
// count whole; channels at analytic level, which nobody shares, have none.
#include <span>

#include "sim/step/simulate.hpp"
#include "sim/trace/trace_writer.hpp"

namespace tiersim {

void write_trace(std::span<const Simulation> simulations, const TraceSink& sink);

}  // namespace tiersim
