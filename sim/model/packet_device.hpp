#pragma once
// A device at packet level, with packets, commands and credits. `level: packet` uses it beside the
// device's channels and costs, which stay the same. It executes its part of an operation and
// reports when the last byte of that part has been moved. Concurrent operations contend inside of
// it.
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/core/event.hpp"
#include "sim/model/step_graph.hpp"

namespace tiersim {

/// One access of an operation.
struct PacketAccess {
  Direction direction = Direction::read;
  Bytes payload;  ///< above 0
  Bytes run;      ///< contiguous bytes of each request, 0 < run <= payload

  friend bool operator==(const PacketAccess&, const PacketAccess&) = default;
};

/// The work of one operation at one device.
struct PacketWork {
  std::vector<PacketAccess> accesses;  ///< not empty; they progress together, evenly
  Duration spread{};                   ///< duration of its other parts: requests are spread over it
  Duration beyond{};     ///< for a link: unloaded time that a request spends behind it
  std::size_t from = 0;  ///< index of the GPU among those that share the device
};

/// Built for one run on its engine, which must outlive it.
class PacketDevice {
 public:
  virtual ~PacketDevice() = default;
  /// Starts `work` now. `done.on_event(engine, tag)` is called when the last byte has been moved,
  /// and not before this function returns.
  virtual void start(const PacketWork& work, EventHandler& done, std::uint64_t tag) = 0;
};

/// The packet level of a device.
struct PacketModel {
  Duration latency{};  ///< the part of AccessCost::latency that the packets produce
  std::function<std::unique_ptr<PacketDevice>(Engine&, std::size_t sharers)> make;
};

}  // namespace tiersim
