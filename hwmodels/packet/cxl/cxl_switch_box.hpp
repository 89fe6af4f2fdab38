#pragma once
// Model card: cxl_switch_box
//   Models    a CXL switch between hosts and memory devices. A message stays in the buffer of its
//             input, and holds its credit, until its header has left by its output.
//   Equation  it may leave `latency` after its flit came. Inputs take turns at an output; hosts may
//             instead share a device's output by weight.
//   Ignores   contention inside other than at outputs.
//   Valid     as cxl_packet.
//   Source    definition.
//   Checked   tests/unit/packet/cxl_pool_test.cpp
#include <array>
#include <memory>
#include <vector>

#include "hwmodels/packet/cxl/flit_channel.hpp"

namespace tiersim {

class CxlSwitchBox {
 public:
  /// A link from the switch's side.
  struct Link {
    FlitChannel* in = nullptr;
    FlitChannel* out = nullptr;
  };
  CxlSwitchBox(Engine& engine, const CxlSwitch& config, std::vector<Link> hosts,
               std::vector<Link> devices);

 private:
  class Port final : public CxlReceiver, public CxlSource {
   public:
    Port(CxlSwitchBox& box, FlitChannel& in, std::size_t input);
    void receive(const CxlMessage& message) override;
    void departed(const CxlMessage& message) override;

   private:
    struct Held {
      CxlMessage message;
      SimTime ready;
    };
    CxlSwitchBox& box_;
    FlitChannel& in_;
    std::size_t input_;  // number of this input at every output
    // fifo: messages behind the first of each class, and whether the first is at an output.
    std::array<FifoRing<Held>, kCxlClasses> held_;
    std::array<bool, kCxlClasses> at_output_{};
  };
  FlitChannel& output_of(const CxlMessage& message) {
    return is_response(message.message_class) ? *hosts_[message.host].out
                                              : *devices_[message.device].out;
  }

  Engine& engine_;
  Duration latency_;
  bool fifo_;
  std::vector<Link> hosts_;
  std::vector<Link> devices_;
  std::vector<std::unique_ptr<Port>> ports_;
};

}  // namespace tiersim
