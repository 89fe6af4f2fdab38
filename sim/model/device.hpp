#pragma once
// The interfaces between hardware and workload. A device states its capacities once, as channels,
// and the cost of an access, as a pure function. The bound adds these costs up and the engine lets
// them contend. Both use the same functions, so an operation without contention takes the same time
// in both.
#include <array>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/number_class.hpp"
#include "sim/base/units.hpp"
#include "sim/model/step_graph.hpp"

namespace tiersim {

/// One direction of one device, with the capacity that concurrent accesses share.
struct Channel {
  std::string name;    ///< unique in its device: "read", "down", ...
  Bandwidth capacity;  ///< in bytes of the channel: wire bytes of a link, bus bytes of a memory
};

/// Indices of the two channels of a link or requester, by direction.
inline constexpr std::size_t kToGpu = 0;
inline constexpr std::size_t kFromGpu = 1;

/// The use of one channel by an access.
struct Charge {
  std::size_t channel = 0;  ///< position in Device::channels()
  Bytes busy;               ///< bytes of the channel's capacity, overheads included
};

/// The cost of an access at one device.
struct AccessCost {
  std::vector<Charge> charges = {};
  Duration latency{};       ///< unloaded time added to the first byte; both ways for a read
  Duration min_duration{};  ///< a rate limit that no channel expresses; 0 for none
  Bytes moved;              ///< payload rounded up to the bytes that the device moves
};

class Device {
 public:
  virtual ~Device() = default;
  virtual std::span<const Channel> channels() const = 0;
  /// Cost of `payload` bytes in contiguous runs of `run` bytes each; 0 < run <= payload.
  virtual AccessCost cost(Direction direction, Bytes payload, Bytes run) const = 0;
};

/// A memory that holds bytes and serves accesses to them.
class MemoryTier : public Device {
 public:
  virtual Bytes capacity() const = 0;
  /// The queueing delay on top of the unloaded latency while the tier serves `rate` of payload in
  /// contiguous runs of `run` > 0 bytes, of which read_share are reads. It never falls as the rate
  /// rises.
  virtual Duration added_latency(Bandwidth, double /*read_share*/, Bytes /*run*/) const {
    return {};
  }
};

/// An interconnect that bytes cross between a tier and the GPU.
class Link : public Device {
 public:
  /// Cost at a port of `payload` that a peer writes into it; by default that of a read.
  virtual AccessCost incoming(Bytes payload, Bytes run) const {
    return cost(Direction::read, payload, run);
  }
  /// The queueing delay, as for a MemoryTier.
  virtual Duration added_latency(Bandwidth, double /*read_share*/, Bytes /*run*/) const {
    return {};
  }
};

class Topology;  // hwmodels/topology

/// The path from one GPU to the others of its group.
struct PortPath {
  Bandwidth bandwidth{};               ///< least capacity on the path, in one direction
  Duration latency{};                  ///< one way, unloaded
  const Topology* topology = nullptr;  ///< of the system, where it states one
};

/// The cost of a collective at one rank's port.
struct CollectiveCost {
  Duration latency{};       ///< constant; overlaps no other part of the collective
  Bytes out;                ///< payload through the port, protocol overhead included
  Bytes in;                 ///< likewise, towards the GPU
  Bytes run;                ///< contiguous bytes of each of its pieces; 0 if nothing moves
  Duration min_duration{};  ///< a rate limit besides the port's
  Bytes far_out = {};       ///< payload to other domains, over links that only this crosses
  Bytes far_in = {};        ///< likewise, towards the GPU
  std::string_view algorithm =
      {};  ///< its name, for as long as the collective lives; empty: only one
};

/// The collective operations of a group of GPUs.
class Collective {
 public:
  virtual ~Collective() = default;
  /// `work.ranks` >= 1; one rank moves nothing and takes no time.
  virtual CollectiveCost cost(const CollectiveWork& work, const PortPath& port) const = 0;
};

/// The path of a request to a remote tier and back.
struct RoundTrip {
  Duration unloaded{};
  const MemoryTier* memory = nullptr;       ///< the tier at the end of the path; never null
  std::span<const Link* const> links = {};  ///< on the path to the tier
  Bytes window{};  ///< of the access (step_graph.hpp); 0: the requester's own
  /// The unloaded time plus the queueing delays on the path and in the tier while they serve
  /// `rate` of reads in contiguous runs of `run` bytes.
  Duration at(Bandwidth rate, Bytes run) const {
    Duration time = unloaded + memory->added_latency(rate, 1, run);
    for (const Link* link : links) time += link->added_latency(rate, 1, run);
    return time;
  }
};

/// A unit of the GPU that issues requests to remote tiers: SM loads, or the copy engine.
class Requester {
 public:
  virtual ~Requester() = default;
  virtual std::span<const Channel> channels() const = 0;
  /// Cost of issuing the access over a path with this round trip.
  virtual AccessCost cost(Direction direction, Bytes payload, Bytes run,
                          const RoundTrip& round_trip) const = 0;
  /// Bytes requested for a contiguous run: at least the run, and never fewer for a longer one. The
  /// links and the tier serve runs of this length.
  virtual Bytes request_run(Bytes run) const { return run; }
  /// Share of the GPU's SMs that its transfers take from concurrent kernels, below 1.
  virtual double held_sms() const { return 0; }
  /// True for a part of the host, such as its CPUs: its accesses to the host's memory do not cross
  /// the links of a GPU.
  virtual bool is_on_host() const { return false; }
};

/// The work of a kernel, as input to the compute unit.
struct KernelWork {
  KernelFamily family = KernelFamily::gemm;
  Arithmetic arithmetic = Arithmetic::bf16;
  Flops flops{};
  Duration memory_time{};      ///< time of its accesses to every tier, without contention
  Duration other_time{};       ///< the same without accesses to the GPU's own memory
  Bytes memory_bytes{};        ///< moved in the GPU's own memory
  Duration memory_latency{};   ///< unloaded latency of the GPU's own memory
  Bandwidth memory_peak{};     ///< capacity of the GPU's own memory
  MatrixShape matrix{};        ///< for a gemm; rows 0 if unknown
  AttentionShape attention{};  ///< for dense attention; sequences 0 if unknown
  ExpertsShape experts{};      ///< for a product of experts; tokens 0 if unknown
  LinearShape linear{};        ///< for linear attention; sequences 0 if unknown
  IndexedShape indexed{};      ///< for what an indexer chooses for; sequences 0 if unknown
  bool warm = false;           ///< what fits of the input is in L2, as in a benchmark
};

struct KernelTime {
  Duration launch{};   ///< before the first instruction; overlaps nothing
  Duration compute{};  ///< arithmetic alone
  Duration body{};     ///< arithmetic and memory together, at least the larger
  /// Time of the accesses to the GPU's own memory, at most `body`, if timings of the kernel give
  /// it. It then replaces the time of the memory's own model.
  std::optional<Duration> own_memory = {};
  bool launch_has_latency = false;  ///< true where `launch` includes the memory's latency
  bool beyond_timed = false;        ///< true where the size is outside the range of the timings
  /// The 95 % interval of what was measured, as factors on this time.
  Interval<double> spread{1, 1};
  std::string_view timed_kernel = {};  ///< its name in the configuration; empty where it has none
};

/// Names of timed kernels (KernelTime::timed_kernel), which live as long as the compute unit.
using TimedNames = std::set<std::string_view>;

/// The provenance of the times of a kernel family.
struct KernelBasis {
  std::string_view basis = "specification";         ///< fitted, transferred or specification
  NumberClass number_class = NumberClass::assumed;  ///< the weakest class among its inputs
  std::string source = {};  ///< calibration and kernel, or the reason for none
};

/// Data sheet of a compute unit.
struct ComputeSheet {
  std::string part = {};                                     ///< "h200"; empty: not stated
  std::array<FlopRate, kArithmeticNames.size()> peaks = {};  ///< by Arithmetic
  Bytes l2 = {};                                             ///< 0: not stated
  std::int64_t sms = 0;                                      ///< 0: not stated
};

class ComputeUnit {
 public:
  virtual ~ComputeUnit() = default;
  virtual const ComputeSheet& sheet() const = 0;
  /// The family whose numbers hold for kernels of this one: itself, or a wider one where the unit
  /// has none for it.
  virtual KernelFamily family_for(KernelFamily family) const { return family; }
  virtual KernelTime time(const KernelWork& work) const = 0;
  /// `ran`: the timed kernels of a step, as time() named them; null: all that the family may use.
  virtual KernelBasis basis(KernelFamily family, const TimedNames* ran = nullptr) const = 0;
};

}  // namespace tiersim
