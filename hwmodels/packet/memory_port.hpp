#pragma once
// The memory behind a link, as a packet-level model sees it.
// Model card: memory_port
//   Models    whatever answers reads and takes writes; FixedMemory is a latency and a rate that
//             reads and writes share.
//   Equation  FixedMemory: done = end of service + latency, service in the order of the calls.
//   Ignores   FixedMemory: banks, refresh, turnaround; a DRAM model gives these.
//   Valid     calls in the order of time.
//   Source    definition.
//   Checked   tests/unit/packet/cxl_probe_test.cpp
#include <cstdint>

#include "hwmodels/packet/wire.hpp"
#include "sim/model/step_graph.hpp"

namespace tiersim {

class MemoryPort {
 public:
  virtual ~MemoryPort() = default;
  /// When the data of a read are there, or a write has been taken, that came at `arrival`.
  virtual SimTime serve(SimTime arrival, std::uint64_t address, Bytes size,
                        Direction direction) = 0;
};

class FixedMemory final : public MemoryPort {
 public:
  FixedMemory(Bandwidth rate, Duration latency) : service_(rate, latency) {}
  SimTime serve(SimTime arrival, std::uint64_t /*address*/, Bytes size,
                Direction /*direction*/) override {
    return service_.send(arrival, size).arrives;
  }

 private:
  Wire service_;
};

}  // namespace tiersim
