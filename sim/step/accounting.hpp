#pragma once
// The first reading of a StepGraph: its footprint and traffic for one GPU, without clock or events.
#include <array>
#include <vector>

#include "sim/base/expected.hpp"
#include "sim/model/step_graph.hpp"
#include "sim/step/system.hpp"

namespace tiersim {

/// Bytes by tensor class.
using ClassBytes = std::array<Bytes, kTensorClassNames.size()>;
Bytes total(const ClassBytes& bytes);

/// One device's traffic in one direction.
struct TrafficSum {
  ClassBytes payload{};  ///< bytes requested
  ClassBytes moved{};    ///< bytes in whole granules of the device
};

struct DeviceSum {
  TrafficSum read;
  TrafficSum write;
};

/// The FLOPs and the active time of one GPU, from which its energy follows.
struct ActiveWork {
  Flops flops;        ///< as OpPlan::powered_flops
  Duration active{};  ///< time of active_power: kernels and collectives, each alone
};

/// FLOPs and exchanged bytes are those of a GPU with GpuRole::main.
struct Accounting {
  std::vector<ClassBytes> footprint;         ///< by TierId
  std::vector<DeviceSum> traffic;            ///< by DeviceId
  std::vector<Bytes> busy;                   ///< by ChannelId: channel bytes, overheads included
  std::array<ActiveWork, kGpuRoles> work{};  ///< by GpuRole
  Flops flops;
  Flops padding;      ///< the part of `flops` that only fills tiles
  Bytes exchanged;    ///< by collectives, counted as in CollectiveWork
  Bytes handed_over;  ///< cache sent to GPUs that decode
};

/// The time for which the operation takes active_power: shorter than its own at a lower clock.
Duration active_time(const OpPlan& plan, const System& system);

Accounting account(const StepGraph& graph, const System& system, const OpPlans& plans);

/// Only the footprint, without the operations; by TierId.
std::vector<ClassBytes> footprint_of(const StepGraph& graph);

/// A tier that is too small for the tensors that the graph places in it.
struct Overflow {
  TierId tier;
  Bytes needed;
  Bytes capacity;
  /// "tier 'hbm' holds 141 GB and 563 GB are needed: keys 275 GB, ..."
  std::string text;
};

/// Empty if every tier holds its tensors; else the first tier that does not.
std::vector<Overflow> overflows(const StepGraph& graph, const System& system);

}  // namespace tiersim
