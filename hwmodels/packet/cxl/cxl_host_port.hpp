#pragma once
// Model card: cxl_host_port
//   Models    a host: accesses cut into lines of 64 B, at most `outstanding` lines in flight.
//   Equation  half of the host's latency passes before the pins, and the rest after them.
//   Ignores   caches, prefetching, cores.
//   Valid     as cxl_packet.
//   Source    as cxl_packet.
//   Checked   tests/unit/packet/cxl_probe_test.cpp
#include <vector>

#include "hwmodels/packet/cxl/flit_channel.hpp"
#include "sim/model/step_graph.hpp"

namespace tiersim {

class CxlHostPort final : public CxlReceiver, public EventHandler {
 public:
  /// Callbacks at the end of an access; an owner overrides one of the two.
  class Owner {
   public:
    virtual void ended(std::size_t /*host*/, Direction /*direction*/, SimTime /*since*/) {}
    virtual void access_ended(std::size_t host, std::uint64_t /*name*/, Direction direction,
                              SimTime since) {
      ended(host, direction, since);
    }

   protected:
    ~Owner() = default;
  };
  /// Distribution of addresses over devices.
  struct Interleave {
    std::uint64_t granule = 256;
    std::uint64_t devices = 1;
  };

  CxlHostPort(Engine& engine, const CxlPacketConfig& config, std::uint16_t index,
              std::int64_t outstanding, Interleave interleave, Owner& owner);
  void connect(FlitChannel& down, FlitChannel& up);

  /// Begins an access of `lines` > 0 lines. `name` is passed back to the owner.
  void start(Direction direction, std::uint64_t address, std::int64_t lines,
             std::uint64_t name = 0);

  void receive(const CxlMessage& message) override;
  void on_event(Engine& engine, std::uint64_t access) override;

 private:
  struct Access {
    SimTime since{};
    std::uint64_t address = 0;  // of the next line
    std::uint64_t name = 0;
    std::int64_t to_send = 0;
    std::int64_t to_finish = 0;
    Direction direction = Direction::read;
  };
  void pump();

  Engine& engine_;
  Owner& owner_;
  std::uint16_t index_;
  Interleave interleave_;
  Duration before_;
  Duration after_;
  Credits window_;
  std::vector<Access> accesses_;
  std::vector<std::uint32_t> free_;
  FifoRing<std::uint32_t> waiting_;  // accesses with lines to send
  FlitChannel* down_ = nullptr;
  FlitChannel* up_ = nullptr;
};

}  // namespace tiersim
