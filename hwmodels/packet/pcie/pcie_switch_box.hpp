#pragma once
// Model card: pcie_switch_box
//   Models    a switch with one port to the root complex and one to each device. A packet stays in
//             the buffer of its input, and holds its credits, until it has left by its output.
//   Equation  store-and-forward: it may leave `latency` after its last byte came; cut-through:
//             `latency` after its header came, or so that its last byte leaves no earlier than
//             `latency` after it came. Inputs take turns at the root's port, or share it by weight.
//   Ignores   traffic between devices; contention inside other than at outputs.
//   Valid     as pcie_packet.
//   Source    definition.
//   Checked   tests/unit/packet/pcie_switch_test.cpp
#include <array>
#include <memory>
#include <vector>

#include "hwmodels/packet/pcie/tlp_channel.hpp"

namespace tiersim {

class PcieSwitchBox {
 public:
  /// A link from the switch's side.
  struct Link {
    TlpChannel* in = nullptr;
    TlpChannel* out = nullptr;
  };
  PcieSwitchBox(Engine& engine, const PcieSwitch& config, Link root, std::vector<Link> devices);

 private:
  class Port final : public TlpReceiver, public TlpSource {
   public:
    Port(PcieSwitchBox& box, TlpChannel& in, std::size_t input, bool from_root);
    void receive(const Tlp& tlp, SimTime tail) override;
    void departed(const Tlp& tlp) override;

   private:
    struct Held {
      Tlp tlp;
      SimTime ready;
    };
    void forward(const Tlp& tlp, SimTime ready);

    PcieSwitchBox& box_;
    TlpChannel& in_;
    std::size_t input_;  // number of this input at the output
    bool from_root_;
    bool fifo_;
    // fifo: packets behind the first of each class, and whether the first is at an output.
    std::array<FifoRing<Held>, kTlpClasses> held_;
    std::array<bool, kTlpClasses> at_output_{};
  };

  Engine& engine_;
  Duration latency_;
  SwitchQueues queues_;
  TlpChannel& to_root_;
  std::vector<TlpChannel*> to_device_;
  std::vector<std::unique_ptr<Port>> ports_;
};

}  // namespace tiersim
