#pragma once
// Model card: flit_channel
//   Models    one direction of a CXL.mem link: its sender's queues, the packing of messages into
//             slots of flits, and the credits of its receiver's two buffers.
//   Equation  a flit is sent as soon as the wire is free and a header or data wait. Its first slot
//             is for headers unless pending data fill the whole flit; each other slot takes pending
//             data, else headers. So data follow their headers in order, and the slots of a line
//             tend to 4 + 1 or 4 + 1/2 as traffic grows. A message has come when the flit with
//             its last slot has. Since a flit never waits to be filled, less latency can pack
//             worse: few lines in flight of a host without latency took a third longer.
//   Ignores   slot formats that mix classes in one slot in other ways, credit bytes.
//   Valid     as cxl_packet.
//   Source    as cxl_packet.
//   Checked   tests/unit/packet/cxl_channel_test.cpp
#include <array>
#include <optional>
#include <vector>

#include "hwmodels/packet/arbiter.hpp"
#include "hwmodels/packet/credits.hpp"
#include "hwmodels/packet/cxl/cxl_message.hpp"
#include "hwmodels/packet/cxl/cxl_packet_config.hpp"
#include "hwmodels/packet/fifo_ring.hpp"
#include "hwmodels/packet/wire.hpp"
#include "sim/core/engine.hpp"

namespace tiersim {

/// The far end of a channel. It calls release() on the channel when its buffer is free again.
class CxlReceiver {
 public:
  virtual void receive(const CxlMessage& message) = 0;

 protected:
  ~CxlReceiver() = default;
};

/// The near end of a channel, called back when a message has left its queue.
class CxlSource {
 public:
  virtual void departed(const CxlMessage& message) = 0;

 protected:
  ~CxlSource() = default;
};

class FlitChannel final : public EventHandler {
 public:
  struct Options {
    Bandwidth raw{};
    std::size_t inputs = 1;
    std::vector<std::int64_t> weights = {};  ///< of the inputs; empty: round robin
  };

  FlitChannel(Engine& engine, const CxlPacketConfig& config, Options options);

  void connect(CxlReceiver& receiver) { receiver_ = &receiver; }
  void connect(std::size_t input, CxlSource& source) { inputs_[input].source = &source; }

  /// Queues a message at an input, to leave at `ready` or later. `ready` must not fall between
  /// calls of one input and class.
  void offer(std::size_t input, const CxlMessage& message, SimTime ready);
  /// Frees the receiver's buffer of a message; its credit travels back.
  void release(const CxlMessage& message);

  const Credits& credits(CxlClass c) const { return credits_[index(c)]; }
  std::int64_t entered() const { return entered_; }
  std::int64_t delivered() const { return delivered_; }
  std::int64_t flits() const { return wire_.packets(); }
  /// Share of occupied slots in all flits so far; 0 without flits.
  double slots_used() const;

  void on_event(Engine& engine, std::uint64_t what) override;

 private:
  struct Waiting {
    CxlMessage message;
    SimTime ready;
    std::uint64_t order = 0;
  };
  struct Input {
    std::array<FifoRing<Waiting>, kCxlClasses> queues;
    CxlSource* source = nullptr;
  };
  struct Next {
    std::size_t input = 0;
    std::size_t message_class = 0;
  };
  struct Owed {
    CxlMessage message;
    std::int64_t slots = 0;
  };
  // Kinds of events.
  static constexpr std::uint64_t kLook = 0;
  static constexpr std::uint64_t kFree = 1;
  static constexpr std::uint64_t kArrived = 2;
  static constexpr std::uint64_t kCredit = 3;  // plus the class

  static std::size_t index(CxlClass c) { return static_cast<std::size_t>(c); }
  std::optional<std::size_t> class_to_send(const Input& input);
  std::optional<Next> next();
  void look();
  void pack();
  std::int64_t pack_headers();
  void pack_data();
  std::int64_t pack_header();
  void arrived();

  Engine& engine_;
  Wire wire_;
  Bytes flit_;
  Duration credit_way_;  // travel time of a returned credit
  std::int64_t slots_;
  CxlReceiver* receiver_ = nullptr;
  std::vector<Input> inputs_;
  RoundRobin turns_;
  std::optional<WeightedRoundRobin> weighted_;
  std::vector<Credits> credits_;
  FifoRing<Owed> owed_;  // messages with data that were not all sent
  std::int64_t owed_slots_ = 0;
  std::int64_t ending_ = 0;       // messages that end in the flit being packed
  FifoRing<CxlMessage> on_wire_;  // in the order in which they end
  FifoRing<std::int64_t> ends_;   // for each flit in which messages end, their number
  std::int64_t half_slots_used_ = 0;
  bool sending_ = false;
  bool packing_ = false;      // true in pack(), where a source may offer more at a departure
  bool none_may_go_ = false;  // none of the waiting messages may go, during the present look
  SimTime look_at_ = SimTime::max();
  SimTime earliest_{};
  std::uint64_t order_ = 0;
  std::int64_t waiting_ = 0;  // in all queues
  std::int64_t entered_ = 0;
  std::int64_t delivered_ = 0;
};

}  // namespace tiersim
