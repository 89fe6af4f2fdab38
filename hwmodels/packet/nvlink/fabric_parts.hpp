#pragma once
// Internals of PacketFabric: the state of ports, queues and messages.
#include <array>
#include <functional>
#include <queue>
#include <vector>

#include "hwmodels/packet/arbiter.hpp"
#include "hwmodels/packet/nvlink/credit_calendar.hpp"
#include "hwmodels/packet/nvlink/fabric.hpp"
#include "hwmodels/packet/wire.hpp"

namespace tiersim {

inline constexpr SimTime kFabricNever = SimTime::max();
inline constexpr std::uint32_t kNoAccount = 0xffff'ffff;

enum class FabricPacketKind : std::uint8_t {
  write,
  acknowledgement,
  read_request,
  response,
  multicast,
  reduce_request,
  contribution,  ///< one port's part of a sum
  sum,
};

/// Packets of one message that leave one link consecutively.
struct FabricTrain {
  SimTime ready{};  ///< ready time of packet 0 of the message, as if it were on this link
  std::uint32_t message = 0;
  std::uint32_t index = 0;  ///< of the next packet, in the message
  std::uint32_t left = 1;   ///< packets left
  std::uint32_t slot = 0;   ///< slot of a sum
  FabricPacketKind kind = FabricPacketKind::write;
  bool finishes = false;  ///< acknowledges the last write of a message on this link
};

/// A packet that waits in the switch.
struct FabricPacket {
  SimTime ready{};  ///< time at which it may leave
  std::uint32_t message = 0;
  std::uint32_t index = 0;
  std::uint32_t slot = 0;
  std::uint32_t account = kNoAccount;  ///< account that its credits return to
  std::uint32_t copies = kNoAccount;   ///< counter of copies still to leave
  std::uint16_t src = 0;               ///< source port; of a sum, the port of its reader
  FabricPacketKind kind = FabricPacketKind::write;
  bool finishes = false;
};

struct FabricLane {
  std::uint64_t key = 0;   ///< order of turns
  std::uint64_t flow = 0;  ///< flow of its messages; 0 for a single message without one
  RingQueue<FabricTrain> trains;
  SimTime ready = kFabricNever;  ///< of the first packet of the first train
  std::int64_t flits = 0;        ///< flits of that packet
  std::uint32_t account = kNoAccount;
};

/// One outgoing link of one GPU. Lanes [0, gpus) answer reads of each GPU, the next gpus carry
/// messages of one packet to it, the next acknowledge its writes; the others carry one longer
/// message each. Turns follow the keys of lanes, which do not depend on when a packet was found to
/// be ready.
struct FabricSource {
  Wire wire;
  SimTime next = kFabricNever;  ///< earliest time of its next packet, as far as known
  std::vector<FabricLane> lanes = {};
  std::vector<std::size_t> active = {};  ///< lanes with packets, by key
  std::uint64_t turn = 0;                ///< key of the lane that sent last
  std::vector<std::size_t> free_lanes = {};
  std::vector<CreditCalendar> accounts = {};       ///< by output, then copies, then sums
  std::vector<std::uint32_t> unacknowledged = {};  ///< writes received here, by source port
  Bytes payload{};
};

/// One incoming link of one GPU: its queues in the switch, one for each input and one for sums.
struct FabricOutput {
  Wire wire;
  RoundRobin turn;
  SimTime next = kFabricNever;
  std::vector<RingQueue<FabricPacket>> queues = {};
  std::vector<SimTime> heads = {};  ///< times at which the first packet of each queue may leave
  Bytes payload{};
};

/// A packet that leaves the switch several times, as copies.
struct FabricCopies {
  std::int64_t missing = 0;
  SimTime left{};  ///< the latest departure so far
};

/// An incomplete sum of one reader and link.
struct FabricSum {
  SimTime ready{};
  std::int64_t missing = 0;
};

struct FabricMessageState {
  FabricMessage spec;
  std::uint64_t sequence = 0;  ///< order of posting
  std::int64_t packets = 0;
  Bytes last{};              ///< payload of the last packet
  std::int64_t missing = 0;  ///< outstanding arrivals and acknowledgements
  SimTime latest{};          ///< latest arrival so far
};

/// The end of a message, known in advance.
struct FabricEnd {
  SimTime when{};
  std::uint64_t sequence = 0;
  std::uint32_t message = 0;

  friend bool operator>(const FabricEnd& a, const FabricEnd& b) {
    return a.when != b.when ? a.when > b.when : a.sequence > b.sequence;
  }
};

struct FabricPorts {
  std::vector<SimTime> message_free;  ///< when a GPU may begin the next message
  std::vector<FabricSource> sources;
  std::vector<FabricOutput> outputs;
  std::vector<std::vector<FabricSum>> sums;  ///< by source; slots
  std::vector<std::vector<std::uint32_t>> free_sums;
  std::vector<FabricMessageState> messages;
  std::vector<std::uint32_t> free_messages;
  std::uint64_t sequence = 0;  ///< of messages and flows
  std::priority_queue<FabricEnd, std::vector<FabricEnd>, std::greater<>> ends;
  std::vector<FabricCopies> copies;
  std::vector<std::uint32_t> free_copies;
  /// Used by switches that have one queue for each input.
  std::vector<RingQueue<std::uint32_t>> order;  ///< outputs of the packets waiting at an input
  std::vector<SimTime> input_free;
  FabricCounters counters;

  Bytes payload_of(const FabricShape& shape, std::uint32_t message, std::uint32_t index,
                   FabricPacketKind kind) const {
    using enum FabricPacketKind;
    if (kind == acknowledgement || kind == read_request || kind == reduce_request) return {};
    const FabricMessageState& m = messages[message];
    return index + 1 == m.packets ? m.last : shape.packet;
  }
  /// With its headers.
  Bytes wire_of(const FabricShape& shape, std::uint32_t message, std::uint32_t index,
                FabricPacketKind kind) const {
    const bool first = index == 0 && kind != FabricPacketKind::acknowledgement;
    return shape.header + (first ? shape.message_header : Bytes{}) +
           payload_of(shape, message, index, kind);
  }
};

}  // namespace tiersim
