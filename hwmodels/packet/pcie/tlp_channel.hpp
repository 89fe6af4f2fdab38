#pragma once
// Model card: tlp_channel
//   Models    one direction of a PCI Express link with its sender's queues and its receiver's
//             buffer: three classes, header and data credits, ordering, arbitration of inputs.
//   Equation  a packet may leave when its class has a header credit and its data credits, when no
//             earlier posted write of the same input still waits (posted writes themselves pass
//             all waiting packets; relaxed ordering lifts this), and when the earlier packets of
//             its class and input have left. The oldest such packet of an input goes first;
//             inputs take turns, or share the wire by weight.
//   Ignores   that freed credits of several classes may share an update.
//   Valid     as pcie_packet.
//   Source    PCI Express base specification, 2.4.1 (ordering) and 2.6.1 (flow control).
//   Checked   tests/unit/packet/pcie_channel_test.cpp
#include <array>
#include <optional>
#include <vector>

#include "hwmodels/packet/arbiter.hpp"
#include "hwmodels/packet/credits.hpp"
#include "hwmodels/packet/fifo_ring.hpp"
#include "hwmodels/packet/pcie/tlp_wire.hpp"
#include "sim/core/engine.hpp"

namespace tiersim {

/// The far end of a channel. It calls release() on the channel when the packet has left its buffer.
class TlpReceiver {
 public:
  /// `tail`: arrival of the last byte; now, unless the channel announces headers.
  virtual void receive(const Tlp& tlp, SimTime tail) = 0;

 protected:
  ~TlpReceiver() = default;
};

/// The near end of a channel, called back when a packet has left.
class TlpSource {
 public:
  virtual void departed(const Tlp& tlp) = 0;

 protected:
  ~TlpSource() = default;
};

class TlpChannel final : public EventHandler {
 public:
  struct Options {
    Bandwidth raw{};
    std::size_t inputs = 1;
    std::vector<std::int64_t> weights = {};  ///< of the inputs; empty: round robin
    bool announce_headers = false;           ///< receive() comes with the header (cut-through)
  };

  TlpChannel(Engine& engine, const PciePacketConfig& config, Options options);

  void connect(TlpReceiver& receiver) { receiver_ = &receiver; }
  void connect(std::size_t input, TlpSource& source) { inputs_[input].source = &source; }
  /// Sets the other direction of the link, which carries the acknowledgements of this one's
  /// receiver.
  void pair_with(TlpChannel& other) { other_ = &other; }

  /// Queues a packet at an input, to leave at `ready` or later. `ready` must not fall between calls
  /// of one input.
  void offer(std::size_t input, const Tlp& tlp, SimTime ready);
  /// Frees the receiver's buffer of a packet.
  void release(const Tlp& tlp);

  const TlpWire& wire() const { return wire_; }
  const Credits& headers(TlpClass c) const { return headers_[index(c)]; }
  const Credits& data(TlpClass c) const { return data_[index(c)]; }
  std::int64_t entered() const { return entered_; }
  std::int64_t delivered() const { return delivered_; }
  /// Credits that were issued, and those held or on the way back, over all classes.
  std::int64_t credits_issued() const;
  std::int64_t credits_held() const;

  void on_event(Engine& engine, std::uint64_t what) override;

 private:
  struct Waiting {
    Tlp tlp;
    SimTime ready;
    std::uint64_t order = 0;
  };
  struct Input {
    std::array<FifoRing<Waiting>, kTlpClasses> queues;
    TlpSource* source = nullptr;
  };
  struct OnWire {
    Tlp tlp;
    SimTime tail;
  };
  /// Credits on the way back, by class.
  struct Freed {
    std::array<std::int64_t, kTlpClasses> headers{};
    std::array<std::int64_t, kTlpClasses> data{};
  };
  // Kinds of events.
  static constexpr std::uint64_t kLook = 0;
  static constexpr std::uint64_t kSent = 1;
  static constexpr std::uint64_t kArrived = 2;
  static constexpr std::uint64_t kUpdate = 3;
  static constexpr std::uint64_t kUpdateArrived = 4;

  static std::size_t index(TlpClass c) { return static_cast<std::size_t>(c); }
  bool may_leave(const Input& input, std::size_t tlp_class);
  std::optional<std::size_t> class_to_send(const Input& input);
  std::optional<std::size_t> next_input();
  void look();
  void transmit(Input& input, std::size_t input_index, std::size_t tlp_class);
  void arrived();
  void acknowledge(const Tlp& tlp);
  void send_update();
  bool limited(std::size_t tlp_class) const;

  Engine& engine_;
  TlpWire wire_;
  bool relaxed_;
  bool announce_headers_;
  std::int64_t ack_every_;
  TlpReceiver* receiver_ = nullptr;
  TlpChannel* other_ = nullptr;
  std::vector<Input> inputs_;
  RoundRobin turns_;
  std::optional<WeightedRoundRobin> weighted_;
  std::vector<Credits> headers_;
  std::vector<Credits> data_;
  FifoRing<OnWire> on_wire_;
  FifoRing<Freed> updates_;
  Freed freed_;
  bool update_pending_ = false;
  std::optional<SimTime> last_update_;
  bool sending_ = false;
  Tlp sent_{};
  std::size_t sent_input_ = 0;
  SimTime look_at_{};   // time of the next scheduled look
  SimTime earliest_{};  // earliest ready time of waiting packets, found by the present look
  std::uint64_t order_ = 0;
  std::int64_t unacknowledged_ = 0;
  std::int64_t entered_ = 0;
  std::int64_t delivered_ = 0;
};

}  // namespace tiersim
