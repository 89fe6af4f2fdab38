#pragma once
// A step as a timeline that Perfetto (ui.perfetto.dev) loads. serving_trace.hpp does the same for a
// server over time; trace_writer.hpp describes the format.
//
//   each GPU     a process: a track for its kernels and one for each kind of transfer (several if
//                transfers of a kind overlap), arrows to operations on another track that
//                waited; counters: payload so far through each device, which ends at the
//                accounting's traffic, and kernels that wait for the compute unit
//   the devices  a process: a track for each channel (direction of a link, of a tier's memory, of
//                the copy engine) of each instance, with the operations whose bytes pass it;
//                counters: operations that move bytes through it and that wait to do so, and its
//                utilisation, which is the used share of its capacity since an operation on it
//                last began or ended
//
// Utilisation comes from the engine's counts, so the step is run once more for it. A window in
// which the channel could carry less than 16 KiB is joined to the next one, since bytes in flight
// count whole. Channels at analytic level, which are not shared, have none.
#include <span>

#include "sim/step/simulate.hpp"
#include "sim/trace/trace_writer.hpp"

namespace tiersim {

void write_trace(std::span<const Simulation> simulations, const TraceSink& sink);

}  // namespace tiersim
