#pragma once
// Model card: packet_fabric
//   Models    ports of several links each, and a switch that joins the links of one number in a
//             plane: packets with headers, credits for each queue of a switch input, queues for
//             each output or one for all, round robin, cut-through; reads that the switch adds up
//             over all ports and writes that it copies to all (NVLS).
//   Equation  a packet leaves its port when the wire is free, it has credits and it is its turn; it
//             may leave the switch flight + cut_through after its first byte left the port; it has
//             arrived flight + eject after its last byte has passed the second wire. A message is
//             striped over the links, packet i on link (address / packet + i) mod links.
//   Ignores   errors and replays; a switch chip's choice of the output link of a port (always the
//             one of the same number); a crossbar without speed-up; a full buffer at the receiver,
//             which always takes packets; messages shorter than a packet share one queue for each
//             destination.
//   Valid     any latency. Very short latencies take longer to simulate, since entities are
//             advanced in windows of the least of them. No result depends on the window: a
//             decision in one window cannot affect another entity before the window ends.
//   Source    switch: Karol, Hluchyj and Morgan, IEEE Trans. Commun. 35(12), 1987 (input queues);
//             NVLS: multimem loads and stores of the PTX ISA. Latencies and buffers are assumed.
//   Checked   tests/unit/packet/nvlink_fabric_test.cpp, nvlink_switch_test.cpp
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/core/engine.hpp"

namespace tiersim {

struct FabricPorts;  // state; fabric_parts.hpp
struct FabricPacket;
struct FabricTrain;
struct FabricSource;
struct FabricOutput;

/// All parameters of a fabric, without their sources.
struct FabricShape {
  std::int64_t gpus = 2;
  std::int64_t links = 1;       ///< of each GPU
  Bandwidth link_rate{};        ///< of one link and direction, for headers and payload
  Bytes packet{};               ///< largest payload of one packet
  Bytes sector{};               ///< payload is rounded up to whole sectors
  Bytes header{};               ///< of each packet; a request or an acknowledgement is one header
  Bytes message_header{};       ///< more of a message's first packet, and of a request
  Duration message_gap{};       ///< least time between messages that one GPU begins
  Bytes flit{};                 ///< bytes that one credit stands for
  std::int64_t credits = 0;     ///< flits behind each queue of a switch input; 0: no limit
  std::int64_t ack_every = 0;   ///< writes that one acknowledgement covers; 0: none are sent
  std::int64_t reductions = 0;  ///< concurrent sums of one link; 0: no limit
  Duration inject{};            ///< from the kernel or the copy engine to the link
  Duration flight{};            ///< of the wire between port and switch
  Duration cut_through{};       ///< from a packet's first byte in to its first byte out
  Duration eject{};             ///< from the link to the memory
  Duration credit_return{};     ///< from the last byte out of a queue to its credits at the sender
  Duration reduce{};            ///< of the switch, for a sum
  Duration memory{};            ///< of a GPU that is read from
  bool one_queue = false;       ///< one queue of an input for all outputs; else one for each
  Duration window{};            ///< for tests: a window shorter than the longest exact one

  /// Time from posting a message to its first byte at the other side, on an idle fabric.
  Duration one_way() const { return inject + flight + cut_through + flight + eject; }
  Bytes wire_bytes(Bytes payload) const {
    return round_up(payload, sector) + header + message_header;
  }
};

enum class FabricOp : std::uint8_t {
  write,      ///< from src to dst
  read,       ///< from dst to src
  reduce,     ///< src receives the sum over all ports of its group
  multicast,  ///< from src to all ports of its group, itself included
};

class FabricListener {
 public:
  /// Called at the instant when the message is done.
  virtual void on_done(Engine& engine, std::uint64_t tag) = 0;

 protected:
  ~FabricListener() = default;
};

/// Ports that take part in a sum or a copy.
struct FabricGroup {
  std::size_t first = 0;
  std::size_t count = 0;  ///< 0: all ports
};

struct FabricMessage {
  FabricOp op = FabricOp::write;
  std::size_t src = 0;
  std::size_t dst = 0;       ///< other than src; not used by reduce and multicast
  FabricGroup group = {};    ///< of reduce and multicast
  Bytes bytes{};             ///< above 0
  std::int64_t address = 0;  ///< sets its first link
  Bandwidth pace{};          ///< limit on the sender's payload a second; 0: none
  std::uint64_t flow = 0;    ///< messages of one flow leave their port in order; 0: no flow
  /// A write is done when its acknowledgement has returned, not on arrival.
  bool until_acknowledged = false;
  FabricListener* listener = nullptr;
  std::uint64_t tag = 0;
};

/// Traffic of one port, both ways. Payload is in whole sectors; a copy counts at each receiver.
struct FabricPortCounters {
  Bytes wire_out{};
  Bytes wire_in{};
  Bytes payload_out{};
  Bytes payload_in{};
  std::int64_t packets_out = 0;
  std::int64_t packets_in = 0;
};

/// Counters of the whole fabric.
struct FabricCounters {
  std::int64_t entered = 0;  ///< packets that left a port
  std::int64_t made = 0;     ///< copies and sums made by the switch
  std::int64_t merged = 0;   ///< packets that ended in a copy or a sum
  std::int64_t left = 0;     ///< packets that left the switch
  std::int64_t queued = 0;   ///< packets on a wire into the switch or in it
  std::int64_t credits_issued = 0;
  std::int64_t credits_promised = 0;  ///< given back, perhaps still on their way
  std::int64_t credits_held = 0;      ///< by packets in queues
  std::int64_t messages_open = 0;
};

class PacketFabric final : public EventHandler {
 public:
  /// The engine must outlive the fabric.
  PacketFabric(Engine& engine, const FabricShape& shape);
  ~PacketFabric();
  PacketFabric(const PacketFabric&) = delete;
  PacketFabric& operator=(const PacketFabric&) = delete;

  /// Posts a message now.
  void post(const FabricMessage& message);

  /// A flow number that no other message has.
  std::uint64_t new_flow();

  const FabricShape& shape() const { return shape_; }
  FabricPortCounters port(std::size_t gpu) const;
  FabricCounters counters() const;
  void on_event(Engine& engine, std::uint64_t payload) override;

 private:
  std::size_t at(std::size_t link, std::size_t gpu) const {
    return link * static_cast<std::size_t>(shape_.gpus) + gpu;
  }
  void wake_at(SimTime when);
  void finish(std::uint32_t message, SimTime when);
  void packet_done(std::uint32_t message, SimTime when);

  // fabric_sources.cpp: ports to the switch
  void advance_source(std::size_t source, SimTime end);
  SimTime earliest(const FabricSource& source, std::size_t lane) const;
  void send(std::size_t source, std::size_t lane, SimTime now);
  void send_to_all(std::size_t source, FabricPacket packet);
  void end_of_packet(FabricSource& source, std::size_t lane);
  void next_of_train(FabricSource& source, std::size_t lane);
  void queue_train(std::size_t source, std::size_t lane, const FabricTrain& train);
  void add_stream(std::size_t source, const FabricTrain& train);
  void contribute(std::size_t link, const FabricTrain& train, SimTime ready);

  // fabric_outputs.cpp: the switch to ports
  void enqueue(std::size_t link, std::size_t input, std::size_t output, const FabricPacket& packet);
  void advance_output(std::size_t output, SimTime end);
  void advance_plane(std::size_t link, SimTime end);
  void grant(std::size_t output, std::size_t input, SimTime now);
  void give_back(std::size_t link, const FabricPacket& packet, SimTime left);
  void arrive(std::size_t link, std::size_t gpu, const FabricPacket& packet, SimTime when);
  void acknowledge(std::size_t link, std::size_t gpu, const FabricPacket& packet, SimTime when);

  Engine& engine_;
  FabricShape shape_;
  Duration window_{};
  SimTime due_ = SimTime::max();
  std::unique_ptr<FabricPorts> ports_;
};

}  // namespace tiersim
