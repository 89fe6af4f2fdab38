#pragma once
// A device as packets, commands and credits: what `level: packet` asks of it beside its channels
// and costs, which stay what they are. It takes the part of an operation that is its own, and says
// when the last byte of it has been moved; operations that come at the same time meet inside of it.
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/core/engine.hpp"
#include "sim/model/step_graph.hpp"

namespace tiersim {

/// One access of an operation.
struct PacketAccess {
  Direction direction = Direction::read;
  Bytes payload;  ///< above 0
  Bytes run;      ///< contiguous bytes of each request, 0 < run <= payload

  friend bool operator==(const PacketAccess&, const PacketAccess&) = default;
};

/// What one operation asks of one device.
struct PacketWork {
  std::vector<PacketAccess> accesses;  ///< not empty; they go on together, evenly
  Duration spread{};     ///< what the rest of the operation takes: requests come no faster than so
  Duration beyond{};     ///< of a link: unloaded time that a request spends behind it
  std::size_t from = 0;  ///< which of the GPUs that share the device
};

/// Built for one run, on its engine, which must live longer.
class PacketDevice {
 public:
  virtual ~PacketDevice() = default;
  /// At this instant. `done.on_event(engine, tag)` comes when the last byte has been moved, and not
  /// before this returns.
  virtual void start(const PacketWork& work, EventHandler& done, std::uint64_t tag) = 0;
};

/// How a device gets to packet level.
struct PacketModel {
  Duration latency{};  ///< the part of AccessCost::latency that its packets take by themselves
  std::function<std::unique_ptr<PacketDevice>(Engine&, std::size_t sharers)> make;
};

}  // namespace tiersim
