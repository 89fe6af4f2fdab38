#pragma once
// Inside of PacketFabric: the state of ports, queues and messages.
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

/// Packets of one message that leave one link one after the other.
struct FabricTrain {
  SimTime ready{};  ///< of packet 0 of the message, had it been on this link
  std::uint32_t message = 0;
  std::uint32_t index = 0;  ///< of its next packet, in the message
  std::uint32_t left = 1;   ///< packets
  std::uint32_t slot = 0;   ///< of a sum
  FabricPacketKind kind = FabricPacketKind::write;
  bool finishes = false;  ///< an acknowledgement of the last write of a message on this link
};

/// What waits in the switch.
struct FabricPacket {
  SimTime ready{};  ///< to leave it
  std::uint32_t message = 0;
  std::uint32_t index = 0;
  std::uint32_t slot = 0;
  std::uint32_t account = kNoAccount;  ///< that its credits go back to
  std::uint32_t copies = kNoAccount;   ///< counter of copies that are still to leave
  std::uint16_t src = 0;               ///< port that it came from; that of a sum is its reader
  FabricPacketKind kind = FabricPacketKind::write;
  bool finishes = false;
};

struct FabricLane {
  std::uint64_t key = 0;   ///< the order of turns
  std::uint64_t flow = 0;  ///< of its messages, 0: of one message without
  RingQueue<FabricTrain> trains;
  SimTime ready = kFabricNever;  ///< of the first packet of the first one
  std::int64_t flits = 0;        ///< that it takes
  std::uint32_t account = kNoAccount;
};

/// One link of one GPU, outwards. Lanes [0, gpus) answer that GPU, the next gpus are of messages of
/// one packet to it, the next acknowledge its writes; the others are of one longer message each.
/// Turns go by keys, which say nothing of when something was found to be ready.
struct FabricSource {
  Wire wire;
  SimTime next = kFabricNever;  ///< when it may send, as far as it is known
  std::vector<FabricLane> lanes = {};
  std::vector<std::size_t> active = {};  ///< lanes that have something, by key
  std::uint64_t turn = 0;                ///< key of the lane that sent last
  std::vector<std::size_t> free_lanes = {};
  std::vector<CreditCalendar> accounts = {};       ///< by output, then copies, then sums
  std::vector<std::uint32_t> unacknowledged = {};  ///< writes that came here, by their port
  Bytes payload{};
};

/// One link of one GPU, inwards: its queues in the switch, one for each input and one for sums.
struct FabricOutput {
  Wire wire;
  RoundRobin turn;
  SimTime next = kFabricNever;
  std::vector<RingQueue<FabricPacket>> queues = {};
  std::vector<SimTime> heads = {};  ///< when the first packet of each queue may leave
  Bytes payload{};
};

/// A packet that leaves the switch several times.
struct FabricCopies {
  std::int64_t missing = 0;
  SimTime left{};  ///< the latest so far
};

/// A sum under way, of one reader and link.
struct FabricSum {
  SimTime ready{};
  std::int64_t missing = 0;
};

struct FabricMessageState {
  FabricMessage spec;
  std::uint64_t sequence = 0;  ///< of posting
  std::int64_t packets = 0;
  Bytes last{};              ///< payload of the last packet
  std::int64_t missing = 0;  ///< arrivals, and acknowledgements that it waits for
  SimTime latest{};          ///< arrival so far
};

/// The end of a message, which is known before it comes.
struct FabricEnd {
  SimTime when{};
  std::uint64_t sequence = 0;
  std::uint32_t message = 0;

  friend bool operator>(const FabricEnd& a, const FabricEnd& b) {
    return a.when != b.when ? a.when > b.when : a.sequence > b.sequence;
  }
};

struct FabricPorts {
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
  /// Of switches with one queue an input.
  std::vector<RingQueue<std::uint32_t>> order;  ///< outputs of what waits at an input
  std::vector<SimTime> input_free;
  FabricCounters counters;

  Bytes payload_of(const FabricShape& shape, std::uint32_t message, std::uint32_t index,
                   FabricPacketKind kind) const {
    using enum FabricPacketKind;
    if (kind == acknowledgement || kind == read_request || kind == reduce_request) return {};
    const FabricMessageState& m = messages[message];
    return index + 1 == m.packets ? m.last : shape.packet;
  }
};

}  // namespace tiersim
