#pragma once
// Model card: timed_collective (fitted from timings; fidelity: flow)
//   Models    the collectives of a library or an engine among the GPUs of one node by
//             forms/collective_form, with numbers that `tiersim calibrate --table` fitted to
//             timings of them. The bytes are flows of the port.
//   Equation  t = misfit * form(ranks, bytes, passes), alone on the port. Half of it at most is the
//             start-up, which is the form's time of one byte; the rest, at least the bytes' time on
//             the port, contends with other flows.
//             A rank sends 2 (ranks - 1) / ranks of the bytes for an all-reduce, and half of it for
//             the others. Where these would fill more than 0.85 of the port, the switch adds
//             up: (ranks + 1) / ranks of the bytes.
//             send: half of an all-to-all between two ranks, whose whole is twice its size.
//   Ignores   waiting for the slowest rank; the packet level; another port than the timed one, but
//             for its limit on the bytes; SMs that a kernel takes from others.
//   Valid     the timed ranks and sizes. Fewer bytes take the time of the fewest that were timed.
//             Beyond them the form goes on without its surface, and misfit counts twice, so that
//             its interval is wider; the algorithm is then `beyond timings`.
//   Source    configs/calibration/<part>/<library>-<version>, from `tiersim calibrate --table`
//   Checked   tests/unit/hwmodels/timed_collective_test.cpp
#include <map>
#include <string>
#include <vector>

#include "sim/base/number_class.hpp"
#include "sim/model/device_spec.hpp"

namespace tiersim {

/// Data sheet of the GPU that was timed.
struct TimedPortConfig {
  std::string name;  ///< "h200"
  Bandwidth port;    ///< one way
};
void describe(Fields& f, TimedPortConfig& c);

/// One operation, as timed_collectives_yaml() of calibrate/fit/write_forms.hpp writes it.
struct TimedOperationConfig {
  std::string form = "collective";
  std::string variant;
  std::string kernel;       ///< name in the timings: "all_gather NCCL half"
  std::string calibration;  ///< "h200/nccl-2.29.2"
  TimedPortConfig part;
  std::map<std::string, double> parameters;
  std::vector<double> surface;
  std::map<std::string, double> least;  ///< of each size that was timed
  std::map<std::string, double> most;
  Sourced<double> misfit{1, NumberClass::fitted, "1: the fit's own time"};
};
void describe(Fields& f, TimedOperationConfig& c);

/// By name of a CollectiveKind; a file has all that are timed.
struct TimedOperations {
  std::map<std::string, TimedOperationConfig> by_name;
};
void describe(Fields& f, TimedOperations& c);

struct TimedCollectiveConfig {
  TimedOperations operations;
};

void describe(Fields& f, TimedCollectiveConfig& c);
std::unique_ptr<Collective> make_device(const TimedCollectiveConfig& config);
void register_timed_collective(Registry<DeviceKind<Collective>>& registry);

}  // namespace tiersim
