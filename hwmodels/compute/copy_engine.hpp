#pragma once
// Model card: copy_engine (fidelity: flow)
//   Models    the GPU's DMA engines: a capacity for each direction, a descriptor for each
//             contiguous run, the host that submits the descriptors, copies that the host writes
//             into the command stream itself, and for reads the number of outstanding requests.
//   Equation  n runs take time >= n * descriptor_time, and rate <= bandwidth. With `submission`,
//             the host submits the first min(n, ahead) descriptors before the engine starts, each
//             in `time`, and the others while it runs: their n - ahead times are a lower bound of
//             the rest. With `inline`, runs towards the GPU that are shorter than `below` take
//             n * time + payload / rate + max(0, n - queue) * waiting, all of it the host's.
//             Towards the GPU rate <= outstanding * min(run, request size) / RTT(rate), see
//             request_window.hpp.
//   Ignores   that parts of one operation share what is submitted ahead (each has its own); the
//             number of engines; other work that the submitting thread delays; the first copy
//             of a call, which takes the host 1 to 2 us more.
//   Valid     copies that one engine works off in order.
//   Source    submission: 5.1 ms for 8192 descriptors on H100, which then take as long as their
//             bytes (vLLM PR 48434). Inline copies: H100, vLLM PR 42212. Single calls: 2.3 us each
//             on H20 (FlexKV PR 193).
//   Disagrees with copies on H100 of 28 and 64 KiB, 10 to 100 thousand of them, by -5 to +11 %
//             (`validate hardware`, curves copy-h100-*).
//   Checked   tests/unit/hwmodels/requests_test.cpp
#include <optional>

#include "hwmodels/compute/request_window.hpp"
#include "sim/base/number_class.hpp"
#include "sim/model/device_spec.hpp"

namespace tiersim {

/// The host's part of a copy of many descriptors.
struct Submission {
  Sourced<Duration> time;       ///< of the host, for each descriptor
  Sourced<std::int64_t> ahead;  ///< descriptors that are submitted before the engine starts
};

/// Short copies towards the GPU whose bytes the host writes into the command stream.
struct InlineCopies {
  Sourced<Bytes> below;
  Sourced<Bandwidth> rate;
  Sourced<Duration> time;
  Sourced<std::int64_t> queue;  ///< copies after which each further one waits for room
  Sourced<Duration> waiting;
};

struct CopyEngineConfig {
  Sourced<Bandwidth> to_gpu;
  Sourced<Bandwidth> from_gpu;
  std::optional<Sourced<Duration>> descriptor_time;
  std::optional<Submission> submission;
  std::optional<InlineCopies> inlined;
  std::optional<OutstandingRequests> outstanding;
};

void describe(Fields& f, Submission& c);
void describe(Fields& f, InlineCopies& c);
void describe(Fields& f, CopyEngineConfig& c);
std::unique_ptr<Requester> make_device(const CopyEngineConfig& config);
void register_copy_engine(Registry<DeviceKind<Requester>>& registry);

}  // namespace tiersim
