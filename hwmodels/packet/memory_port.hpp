#pragma once
// The memory behind a link, as the packet-level models use it.
// Model card: memory_port
//   Models    any memory that answers reads and takes writes, in any order; FixedMemory is a
//             latency and a rate that reads and writes share.
//   Equation  FixedMemory: done = end of service + latency, service in the order of the calls.
//   Ignores   FixedMemory: banks, refresh, turnaround; a DRAM model has these.
//   Valid     any number of clients of one engine.
//   Source    definition.
//   Checked   tests/unit/packet/cxl_probe_test.cpp, tests/unit/packet/pcie_probe_test.cpp
#include <cstdint>
#include <optional>

#include "hwmodels/packet/wire.hpp"
#include "sim/core/engine.hpp"
#include "sim/model/step_graph.hpp"

namespace tiersim {

class MemoryPort {
 public:
  class Client {
   public:
    /// Called when the read's data have arrived, or the write has been taken.
    virtual void served(std::uint64_t tag) = 0;

   protected:
    ~Client() = default;
  };
  struct Request {
    std::uint64_t address = 0;
    Bytes size;
    Direction direction = Direction::read;
    std::uint64_t tag = 0;  ///< chosen by the client, unique among those in flight
  };

  virtual ~MemoryPort() = default;
  /// Takes a request now. client.served(tag) is called at this instant or later, but not before
  /// this function returns. The client must outlive the request.
  virtual void serve(Engine& engine, const Request& request, Client& client) = 0;
  /// The service time of a request that arrives at `arrives` >= now, where it is known already;
  /// then there is no callback and no event. Empty otherwise. `arrives` must not fall between
  /// calls.
  virtual std::optional<Duration> time_of(Engine& /*engine*/, const Request& /*request*/,
                                          SimTime /*arrives*/) {
    return std::nullopt;
  }
};

class FixedMemory final : public MemoryPort {
 public:
  FixedMemory(Bandwidth rate, Duration latency) : service_(rate, latency) {}
  void serve(Engine& engine, const Request& request, Client& client) override {
    const SimTime done = service_.send(engine.now(), request.size).arrives;
    engine.call_at(done, [&client, tag = request.tag] { client.served(tag); });
  }

 private:
  Wire service_;
};

}  // namespace tiersim
