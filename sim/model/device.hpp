#pragma once
// The seams between hardware and workload. A device states its capacities once, as channels, and
// what an access costs it, as a pure function. The bound adds those costs up, the engine lets them
// contend: both ask the same functions, so an operation that meets no other takes the same time in
// both.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/number_class.hpp"
#include "sim/base/units.hpp"
#include "sim/model/step_graph.hpp"

namespace tiersim {

/// One direction of one device: the capacity that concurrent accesses share.
struct Channel {
  std::string name;    ///< unique in its device: "read", "down", ...
  Bandwidth capacity;  ///< in bytes of the channel: wire bytes of a link, bus bytes of a memory
};

/// Channels of links and requesters that have two, by direction.
inline constexpr std::size_t kToGpu = 0;
inline constexpr std::size_t kFromGpu = 1;

/// How much of one channel an access takes.
struct Charge {
  std::size_t channel = 0;  ///< position in Device::channels()
  Bytes busy;               ///< bytes of the channel's capacity, overheads included
};

/// What an access costs one device.
struct AccessCost {
  std::vector<Charge> charges = {};
  Duration latency{};       ///< unloaded time that it adds to the first byte, both ways for a read
  Duration min_duration{};  ///< a rate limit that no channel expresses; 0 for none
  Bytes moved;              ///< payload rounded up to what the device really moves
};

class Device {
 public:
  virtual ~Device() = default;
  virtual std::span<const Channel> channels() const = 0;
  /// Cost of `payload` bytes in contiguous runs of `run` bytes each; 0 < run <= payload.
  virtual AccessCost cost(Direction direction, Bytes payload, Bytes run) const = 0;
};

/// A place that holds bytes and serves them.
class MemoryTier : public Device {
 public:
  virtual Bytes capacity() const = 0;
  /// What queueing in it adds to the unloaded latency while it serves `rate` of payload, of which
  /// so much are reads; never falls with the rate.
  virtual Duration added_latency(Bandwidth, double /*read_share*/ = 1) const { return {}; }
};

/// Something that bytes cross on the way between a tier and the GPU.
class Link : public Device {
 public:
  /// What a port is charged for `payload` that a peer writes into it: here as if it read it.
  virtual AccessCost incoming(Bytes payload, Bytes run) const {
    return cost(Direction::read, payload, run);
  }
  /// As of a MemoryTier.
  virtual Duration added_latency(Bandwidth, double /*read_share*/ = 1) const { return {}; }
};

/// The way from one GPU to the others of its group.
struct PortPath {
  Bandwidth bandwidth{};  ///< least capacity on it, of one direction
  Duration latency{};     ///< one way, unloaded
};

/// What a collective asks of one rank's port.
struct CollectiveCost {
  Duration latency{};       ///< never shrinks, overlaps nothing of the collective
  Bytes out;                ///< payload through the port, protocol overhead included
  Bytes in;                 ///< likewise, towards the GPU
  Bytes run;                ///< contiguous bytes of each piece of it; 0 where nothing moves
  Duration min_duration{};  ///< a rate limit that the port does not express
  std::string_view algorithm = {};
};

/// How the GPUs of a group work together.
class Collective {
 public:
  virtual ~Collective() = default;
  /// `work.ranks` >= 1; one rank moves nothing and takes no time.
  virtual CollectiveCost cost(const CollectiveWork& work, const PortPath& port) const = 0;
};

/// The way of a request to a remote tier and back.
struct RoundTrip {
  Duration unloaded{};
  const MemoryTier* memory = nullptr;       ///< the tier at its end; never null
  std::span<const Link* const> links = {};  ///< on the way to it
  /// With what queueing on the way and in the tier adds while they serve `rate`.
  Duration at(Bandwidth rate, double read_share = 1) const {
    Duration time = unloaded + memory->added_latency(rate, read_share);
    for (const Link* link : links) time += link->added_latency(rate, read_share);
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
  /// What it really requests for a contiguous run: at least the run, and never less for a longer
  /// one. The links and the tier serve runs of this length.
  virtual Bytes request_run(Bytes run) const { return run; }
  /// Share of the GPU's SMs that its transfers keep from kernels beside them, below 1.
  virtual double held_sms() const { return 0; }
};

/// What a kernel asks of the compute unit.
struct KernelWork {
  KernelFamily family = KernelFamily::gemm;
  Arithmetic arithmetic = Arithmetic::bf16;
  Flops flops{};
  Duration memory_time{};     ///< time of its accesses to every tier, alone on the system
  Duration other_time{};      ///< the same without those to the GPU's own memory
  Bytes memory_bytes{};       ///< moved in the GPU's own memory
  Duration memory_latency{};  ///< unloaded latency of the GPU's own memory
  Bandwidth memory_peak{};    ///< capacity of the GPU's own memory
  MatrixShape matrix{};       ///< of a gemm; rows 0 where it is not known
};

struct KernelTime {
  Duration launch{};   ///< before the first instruction; overlaps nothing
  Duration compute{};  ///< arithmetic alone
  Duration body{};     ///< arithmetic and memory together, at least the larger
  /// Time of the accesses to the GPU's own memory, at most `body`, where timings of the kernel say
  /// so: it replaces what the memory's own model says.
  std::optional<Duration> own_memory = {};
  bool launch_has_latency = false;  ///< `launch` holds the latency of the GPU's own memory
  bool beyond_timed = false;        ///< follows timings, and is none of the sizes between them
};

/// What the times of a kernel family rest on.
struct KernelBasis {
  std::string_view basis = "specification";         ///< fitted, transferred or specification
  NumberClass number_class = NumberClass::assumed;  ///< the weakest behind it
  std::string source = {};                          ///< the calibration and kernel, or why none
};

class ComputeUnit {
 public:
  virtual ~ComputeUnit() = default;
  virtual KernelTime time(const KernelWork& work) const = 0;
  virtual KernelBasis basis(KernelFamily family) const = 0;
};

}  // namespace tiersim
